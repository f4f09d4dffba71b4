#include "lock.h"

#include "fiber.h"

namespace iron {

void leave_list(Process *p) {
  Process **at = &p->waits_for->waiters;
  while (*at && *at != p) at = &(*at)->next_waiter;
  if (*at) *at = p->next_waiter;
  p->waits_for = nullptr;
}

void Lock::park(Process *p, int32_t wants_, bool exactly) {
  p->wants = wants_;
  p->wants_exactly = exactly;
  if (p->waits_for == this) return;
  unpark(p);
  p->waits_for = this;
  if (tracing) trace_wait(p, this);
  p->next_waiter = nullptr;
  Process **end = &waiters;
  while (*end) end = &(*end)->next_waiter;
  *end = p;
}

bool queue_behind(Process *p, Lock *lock) {
  p->claim = lock;
  lock->claims++;
  scheduler.ready(p);
  return false;
}

// A woken process tests the lock again when its turn comes, so waking one too many is harmless.
void Lock::wake() {
  Process **at = &waiters;
  while (Process *p = *at) {
    if (!grants(p->wants, p->wants_exactly)) {
      at = &p->next_waiter;
      continue;
    }
    *at = p->next_waiter;
    p->waits_for = nullptr;
    if (tracing) trace_wait(p, nullptr);
    p->claim = this;
    claims++;
    scheduler.go_on(p);
  }
}

static void wait_for(Lock *lock, int32_t wants, bool exactly) {
  Fiber *f = Fiber::current;
  if (!in_turn(f, lock)) Fiber::suspend();
  unclaim(f);
  while (!lock->grants(wants, exactly)) {
    lock->park(f, wants, exactly);
    Fiber::suspend();
    unclaim(f);
  }
  unpark(f);
}

void acquire(Lock *lock, int32_t wants, bool exactly) {
  if (lock->claims || !lock->grants(wants, exactly)) wait_for(lock, wants, exactly);
  take(Fiber::current, lock, wants, exactly);
}

}  // namespace iron
