#include "dma.h"

#include "sequence.h"

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
      if (!u.lock->grants(u.value, u.exactly)) {
        u.lock->park(this, u.value, u.exactly);
        return false;
      }
    unpark(this);
    for (const LockUse &u : b.acquires) u.lock->take(u.value, u.exactly);
    cursor.begin(b, pad);
    if (cursor.left == 0) {
      end_bd();  // an empty transfer: only its locks count
      continue;
    }
    active = true;
  }
  return true;
}

void Channel::finish() {
  active = false;
  end_bd();
}

void Channel::end_bd() {
  Task *task = queue.front();
  const Bd &b = task->bds[(size_t)current];
  current = b.next;
  for (const LockUse &u : b.releases) u.lock->add(u.value);
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

void Channel::enqueue(Task *task) {
  task->started = true;
  queue.push_back(task);
  scheduler.ready(this);
}

}  // namespace iron
