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
}

void Scheduler::run() {
  while (head_ && !stop) {
    Process *p = head_;
    head_ = p->next;
    if (!head_) tail_ = nullptr;
    p->queued = false;
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
