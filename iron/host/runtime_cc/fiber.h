// A stackful fiber: cores and the runtime sequence, because a C++ kernel below them may block.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "iron_host.h"
#include "scheduler.h"

#if !defined(IRON_FIBER_UCONTEXT) && (defined(__x86_64__) || defined(__aarch64__)) && !defined(__APPLE__)
#define IRON_FIBER_ASM 1
#else
#include <ucontext.h>
#endif

namespace iron {

using Body = void (*)(Context &);

struct Fiber : Process {
  Fiber(std::string name, int32_t index) : name(std::move(name)), index(index) {}
  ~Fiber() override;

  void start(Body body, size_t stack_bytes);  // from the beginning, on the next step
  void step() override;

  static void suspend();                   // back to the scheduler; returns when stepped again
  [[noreturn]] static void park_forever(); // never comes back
  bool guards(const void *address) const;  // is it in the page that catches an overflow?

  std::string name;
  int32_t index;  // position among the cores; -1 is the runtime sequence
  Context context{};
  Body body = nullptr;
  bool started = false, done = false;
  const char *waits_text = nullptr;  // what else than a lock it waits for
  const void *waits_object = nullptr;

  static Fiber *current;

 private:
  static void enter();

  char *stack_ = nullptr;  // lowest address, guard page first
  size_t stack_bytes_ = 0;
#ifdef IRON_FIBER_ASM
  void *sp_ = nullptr;
#else
  ucontext_t context_{};
#endif
};

}  // namespace iron
