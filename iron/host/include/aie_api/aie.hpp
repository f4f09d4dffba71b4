// The part of the AIE API that plain scalar kernels use, for the host.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "../iron_host.h"

using bfloat16 = iron::bf16;

// Event instructions mark points for the hardware's trace unit; they do not change results.
inline void event0() { iron_api->event(0); }
inline void event1() { iron_api->event(1); }

// The cascade carries 512 bits at a time from a core to its neighbour; streams carry words.
typedef int32_t v16int32 __attribute__((vector_size(64)));
typedef int16_t v32int16 __attribute__((vector_size(64)));
typedef int8_t v64int8 __attribute__((vector_size(64)));

template <class T> inline void put_mcd(T value) {
  static_assert(sizeof(T) == 64, "the cascade is 512 bits wide");
  iron_api->cascade_put(&value, sizeof value);
}
inline v16int32 get_scd_v16int32() {
  v16int32 value;
  iron_api->cascade_get(&value, sizeof value);
  return value;
}
inline v32int16 get_scd_v32int16() {
  v32int16 value;
  iron_api->cascade_get(&value, sizeof value);
  return value;
}
inline v64int8 get_scd_v64int8() {
  v64int8 value;
  iron_api->cascade_get(&value, sizeof value);
  return value;
}
inline void put_ms(int32_t value, int32_t last = 0) {
  iron_api->stream_put(0, &value, sizeof value, last);
}
inline int32_t get_ss() {
  int32_t value;
  iron_api->stream_get(0, &value, sizeof value);
  return value;
}

// Loop and storage hints of the AIE compilers.
#define AIE_PREPARE_FOR_PIPELINING
#define AIE_LOOP_MIN_ITERATION_COUNT(n)
#define AIE_LOOP_MAX_ITERATION_COUNT(n)
#define AIE_LOOP_RANGE(...)
#define AIE_LOOP_UNROLL(n)
#define AIE_LOOP_UNROLL_FULL
#define AIE_LOOP_NO_UNROLL
#define AIE_LOOP_FLATTEN
#define AIE_TRY_INITIATION_INTERVAL(n)
#define chess_prepare_for_pipelining
#define chess_loop_range(...)
#define chess_loop_count(...)
#define chess_unroll_loop(...)
#define chess_flatten_loop
#define chess_storage(...)
#define chess_protect_access
#define chess_copy(x) (x)
#define chess_separator_scheduler(...)
#define chess_memory_fence(...)

namespace aie {}
