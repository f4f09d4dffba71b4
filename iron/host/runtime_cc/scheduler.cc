#include "scheduler.h"

#include "fiber.h"

namespace iron {

Scheduler scheduler;

void Scheduler::ready(Process *p) {
  if (p->queued) return;
  p->queued = true;
  p->next = nullptr;
  (tail_ ? tail_->next : head_) = p;
  tail_ = p;
  ++count_;
}

void Scheduler::forget(Process *p) {
  if (!p->queued) return;
  p->queued = false;
  Process *before = nullptr, *at = head_;
  while (at && at != p) {
    before = at;
    at = at->next;
  }
  if (!at) return;
  (before ? before->next : head_) = p->next;
  if (tail_ == p) tail_ = before;
  --count_;
}

Process *Scheduler::draw() {
  seed ^= seed << 13;  // xorshift of Marsaglia
  seed ^= seed >> 7;
  seed ^= seed << 17;
  Process *p = head_;
  for (uint64_t k = seed % count_; k > 0; k--) p = p->next;
  forget(p);
  return p;
}

void Scheduler::run() {
  while (head_ && !stop) {
    Process *p = head_;
    if (seed) {
      p = draw();
    } else {
      head_ = p->next;
      if (!head_) tail_ = nullptr;
      p->queued = false;
      --count_;
    }
    ++steps;
    p->step();
  }
}

void fail(const std::string &why) {
  if (scheduler.failure.empty()) scheduler.failure = why;
  scheduler.stop = true;
  if (Fiber::current) Fiber::park_forever();
}

}  // namespace iron
