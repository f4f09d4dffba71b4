#include "scheduler.h"

#include "fiber.h"

namespace iron {

Scheduler scheduler;

namespace {
constexpr uint64_t kPatience = 64;  // steps between two that go to who has waited longest
}

Process *Scheduler::draw() {
  seed ^= seed << 13;  // xorshift of Marsaglia
  seed ^= seed >> 7;
  seed ^= seed << 17;
  uint64_t k = seed % (next_.count + later_.count);
  Process *p = k < next_.count ? next_.head : later_.head;
  for (k -= k < next_.count ? 0 : next_.count; k > 0; k--) p = p->next;
  return p;
}

Process *Scheduler::choose() {
  if (seed) return draw();
  if (steps % kPatience == 0) {  // the one and the other in turn
    bool later = steps / kPatience % 2 == 0;
    if (later && later_.head) return later_.head;
    if (!later && next_.tail) return next_.tail;
  }
  return next_.head ? next_.head : later_.head;
}

void Scheduler::run() {
  while ((next_.head || later_.head) && !stop) {
    ++steps;
    Process *p = choose();
    p->queue->remove(p);
    taker_ = other_ = nullptr;
    p->step();
  }
}

void fail(const std::string &why) {
  if (scheduler.failure.empty()) scheduler.failure = why;
  scheduler.stop = true;
  if (Fiber::current) Fiber::park_forever();
}

}  // namespace iron
