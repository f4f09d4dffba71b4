#include "dma.h"

#include "race.h"
#include "sequence.h"
#include "trace.h"

namespace iron {

void Channel::step() {
  if (sends) {
    pump(this);
  } else {
    arm();  // the locks are taken before data comes, as the hardware does
    pump_into(this);
  }
}

bool Channel::arm() {
  while (!active) {
    if (current < 0) {
      if (queue.empty()) return false;
      current = 0;
    }
    Bd &b = queue.front()->bds[(size_t)current];
    for (const LockUse &u : b.acquires)
      if (!in_turn(this, u.lock)) return false;
    if (claim) unclaim(this);
    for (const LockUse &u : b.acquires)
      if (!u.lock->grants(u.value, u.exactly)) {
        u.lock->park(this, u.value, u.exactly);
        return false;
      }
    unpark(this);
    for (const LockUse &u : b.acquires) {
      u.lock->take(u.value, u.exactly);
      if (tracing) trace_level(u.lock);
      IRON_CHECKED(race_acquire(this, u.lock));
    }
    IRON_CHECKED(race_begin(this, queue.front()));
    cursor.begin(b, pad);
    if (cursor.left == 0) {
      end_bd();  // an empty transfer: only its locks count
      continue;
    }
    active = true;
    if (tracing) trace_transfer_begin(this);
  }
  return true;
}

void Channel::finish() {
  active = false;
  if (tracing) trace_transfer_end(this);
  end_bd();
}

void Channel::end_bd() {
  Task *task = queue.front();
  const Bd &b = task->bds[(size_t)current];
  IRON_CHECKED(race_transferred(this, b));
  current = b.next;
  for (const LockUse &u : b.releases) {
    IRON_CHECKED(race_release(this, u.lock));
    u.lock->add(u.value);
  }
  if (current >= 0) return;
  if (repeats < task->repeat) {
    repeats++;
    current = 0;
    return;
  }
  repeats = 0;
  queue.pop_front();
  task->done = true;
  if (task->token) tokens.push_back(task);
  task_finished(task);
}

uint32_t Channel::header() const {
  // Stream packet header of AIE2: id in bits 4:0, type in 14:12, odd parity in 31.
  const Bd &b = bd();
  uint32_t word = (uint32_t)(b.packet & 31) | (uint32_t)(b.packet_type & 7) << 12;
  if (__builtin_popcount(word) % 2 == 0) word |= 0x80000000u;
  return word;
}

void Channel::reset() {
  scheduler.forget(this);
  unpark(this);
  unclaim(this);
  active = false;
  current = -1;
  repeats = 0;
  for (Task *t : queue) task_lost(t);
  queue.clear();
  tokens.clear();
  abandon(this);
}

void Channel::restart() {
  for (auto &t : program) {
    for (Bd &b : t->bds) b.iteration = b.first_iteration;
    enqueue(t.get());
  }
}

void Channel::enqueue(Task *task) {
  task->started = true;
  queue.push_back(task);
  scheduler.ready(this);
}

}  // namespace iron
