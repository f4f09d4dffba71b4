// What the AIE compilers give every kernel without an include: every kernel is compiled with it.
#pragma once

// Event instructions mark points for the hardware's trace unit; they do not change results.
extern "C" __attribute__((visibility("hidden"))) void iron_mark(int which);
static inline void event0() { iron_mark(0); }
static inline void event1() { iron_mark(1); }

#ifndef restrict
#define restrict __restrict
#endif
