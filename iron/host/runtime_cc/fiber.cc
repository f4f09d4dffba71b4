#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "asan.h"
#include "status.h"
#include "trace.h"


namespace iron {

Fiber *Fiber::current = nullptr;

#ifdef IRON_FIBER_ASM
// Save the callee-saved registers on this stack, its top in *from, and continue on `to`.
extern "C" void iron_switch(void **from, void *to);

#if defined(__x86_64__)
__asm__(
    ".text\n.p2align 4\n.globl iron_switch\n.type iron_switch,@function\niron_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n.size iron_switch,.-iron_switch\n");
static void *first_frame(char *top, void (*entry)()) {
  void **sp = (void **)((uintptr_t)top & ~(uintptr_t)15);
  *--sp = nullptr;  // where entry would return to: ends a backtrace and aligns the stack
  *--sp = (void *)entry;
  sp -= 6;
  std::memset(sp, 0, 6 * sizeof *sp);
  return sp;
}
#else
__asm__(
    ".text\n.p2align 4\n.globl iron_switch\n.type iron_switch,@function\niron_switch:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n"
    "  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n"
    "  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n  ret\n.size iron_switch,.-iron_switch\n");
static void *first_frame(char *top, void (*entry)()) {
  char *sp = (char *)((uintptr_t)top & ~(uintptr_t)15) - 160;
  std::memset(sp, 0, 160);
  std::memcpy(sp + 88, &entry, sizeof entry);  // x30
  return sp;
}
#endif
static void *scheduler_sp;
#else
static ucontext_t scheduler_context;
#endif

// The address sanitizer must know which stack is in use.
#ifdef IRON_ASAN
static const void *scheduler_stack;
static size_t scheduler_stack_bytes;
static void leave(void **fake, const void *stack, size_t bytes) {
  __sanitizer_start_switch_fiber(fake, stack, bytes);
}
static void arrive(void *fake, bool on_fiber) {
  if (on_fiber)
    __sanitizer_finish_switch_fiber(fake, &scheduler_stack, &scheduler_stack_bytes);
  else
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
}
#else
static void leave(void **, const void *, size_t) {}
static void arrive(void *, bool) {}
static const void *scheduler_stack;
static size_t scheduler_stack_bytes;
#endif

static size_t page() {
  static const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  return bytes;
}

Fiber::~Fiber() {
  if (stack_) munmap(stack_, stack_bytes_);
}

void Fiber::start(Body b, size_t bytes) {
  body = b;
  if (!stack_) {
    stack_bytes_ = (bytes + page() - 1) / page() * page() + page();
    void *p = mmap(nullptr, stack_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
      fail("no memory for the stack of " + name);
      return;
    }
    stack_ = (char *)p;
    mprotect(stack_, page(), PROT_NONE);
  }
#ifdef IRON_FIBER_ASM
  sp_ = first_frame(stack_ + stack_bytes_, &Fiber::enter);
#else
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_ + page();
  context_.uc_stack.ss_size = stack_bytes_ - page();
  context_.uc_link = nullptr;
  makecontext(&context_, &Fiber::enter, 0);
#endif
  started = true;
  done = false;
  scheduler.ready(this);
}

void Fiber::enter() {
  arrive(nullptr, true);
  current->body(current->context);
  current->done = true;
  if (current->index < 0) scheduler.stop = true;  // the runtime sequence has ended
  park_forever();
}

void Fiber::step() {
  if (done || !started) return;
  current = this;
  status->running = index;
  if (tracing) trace_core_begin(this);
  void *fake = nullptr;
  leave(&fake, stack_ + page(), stack_bytes_ - page());
#ifdef IRON_FIBER_ASM
  iron_switch(&scheduler_sp, sp_);
#else
  swapcontext(&scheduler_context, &context_);
#endif
  arrive(fake, false);
  if (tracing) trace_core_end(this);
  current = nullptr;
}

void Fiber::suspend() {
  Fiber *f = current;
  void *fake = nullptr;
  leave(&fake, scheduler_stack, scheduler_stack_bytes);
#ifdef IRON_FIBER_ASM
  iron_switch(&f->sp_, scheduler_sp);
#else
  swapcontext(&f->context_, &scheduler_context);
#endif
  arrive(fake, true);
}

void Fiber::park_forever() {
  for (;;) suspend();
}

bool Fiber::guards(const void *address) const {
  return stack_ && address >= stack_ && address < stack_ + page();
}

}  // namespace iron
