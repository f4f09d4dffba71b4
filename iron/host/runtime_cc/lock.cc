#include "lock.h"

#include "fiber.h"
#include "race.h"
#include "trace.h"

namespace iron {

void unpark(Process *p) {
  if (!p->waits_for) return;
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

void unclaim(Process *p) {
  if (!p->claim) return;
  p->claim->claims--;
  p->claim = nullptr;
}

bool in_turn(Process *p, Lock *lock) {
  if (p->claim || lock->claims == 0) return true;
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
    scheduler.ready(p);
  }
}

void Lock::add(int32_t n) {
  value += n;
  if (tracing) trace_level(this);
  if (waiters) wake();
}

void Lock::set(int32_t n) {
  value = n;
  if (tracing) trace_level(this);
  if (waiters) wake();
}

void acquire(Lock *lock, int32_t wants, bool exactly) {
  if (!in_turn(Fiber::current, lock)) Fiber::suspend();
  unclaim(Fiber::current);
  while (!lock->grants(wants, exactly)) {
    lock->park(Fiber::current, wants, exactly);
    Fiber::suspend();
    unclaim(Fiber::current);
  }
  unpark(Fiber::current);
  lock->take(wants, exactly);
  if (tracing) trace_level(lock);
  IRON_CHECKED(race_acquire(Fiber::current, lock));
}

}  // namespace iron
