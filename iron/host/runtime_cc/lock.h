// Counting locks, the only way cores and DMA channels wait for each other.
//
// As on AIE2 (use_lock of mlir-aie's AIE dialect): "greater or equal" waits for the value to reach
// what is asked and takes it away; an exact acquire waits for equality and leaves the value as it
// is; a release adds.
#pragma once
#include <cstdint>
#include <string>

#include "scheduler.h"

namespace iron {

struct Lock {
  std::string name, tile, fifo, where;
  int32_t initial = 0, value = 0;
  Process *waiters = nullptr;  // in the order of their coming
  int32_t claims = 0;          // of processes that were woken and have not tried yet

  bool grants(int32_t wants, bool exactly) const {
    return exactly ? value == wants : value >= wants;
  }
  void take(int32_t wants, bool exactly) {
    if (!exactly) value -= wants;
  }
  void add(int32_t n);
  void set(int32_t n);
  void park(Process *p, int32_t wants, bool exactly);  // remember who waits
  void wake();                                         // those who can go on now
};

void unpark(Process *p);
// Locks are fair: who comes while others have been woken for the lock tries after them, so that
// one of several channels that share a lock cannot take it again and again. False: not your turn,
// you have been queued.
bool in_turn(Process *p, Lock *lock);
void unclaim(Process *p);
void acquire(Lock *lock, int32_t wants, bool exactly);  // by the current fiber

}  // namespace iron
