// Counting locks, the only way cores and DMA channels wait for each other.
//
// As on AIE2 (use_lock of mlir-aie's AIE dialect): "greater or equal" waits for the value to reach
// what is asked and takes it away; an exact acquire waits for equality and leaves the value as it
// is; a release adds.
#pragma once
#include <cstdint>
#include <string>

#include "race.h"
#include "scheduler.h"
#include "trace.h"

namespace iron {

struct Lock {
  int32_t value = 0;
  int32_t claims = 0;          // of processes that were woken and have not tried yet
  Process *waiters = nullptr;  // in the order of their coming
  int32_t initial = 0;
  std::string name, tile, fifo, where;

  bool grants(int32_t wants, bool exactly) const {
    return exactly ? value == wants : value >= wants;
  }
  void take(int32_t wants, bool exactly) {
    if (!exactly) value -= wants;
  }
  void add(int32_t n) { set(value + n); }
  void set(int32_t n) {
    value = n;
    if (tracing) trace_level(this);
    if (waiters) wake();
  }
  void park(Process *p, int32_t wants, bool exactly);  // remember who waits
  void wake();                                         // those who can go on now
};

void leave_list(Process *p);
inline void unpark(Process *p) {
  if (p->waits_for) leave_list(p);
}
// Locks are fair: who comes while others have been woken for the lock tries after them, so that
// one of several channels that share a lock cannot take it again and again. False: not your turn,
// you have been queued.
bool queue_behind(Process *p, Lock *lock);
inline bool in_turn(Process *p, Lock *lock) {
  return p->claim || lock->claims == 0 || queue_behind(p, lock);
}
inline void unclaim(Process *p) {
  if (!p->claim) return;
  p->claim->claims--;
  p->claim = nullptr;
}
// By a process whose turn it is, of a lock that grants it.
inline void take(const Process *p, Lock *lock, int32_t wants, bool exactly) {
  lock->take(wants, exactly);
  if (tracing) trace_level(lock);
  IRON_CHECKED(race_acquire(p, lock));
  (void)p;
}
void acquire(Lock *lock, int32_t wants, bool exactly);  // by the current fiber

}  // namespace iron
