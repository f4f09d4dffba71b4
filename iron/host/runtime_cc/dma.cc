#include "dma.h"

#include "sequence.h"

namespace iron {

void Channel::step() {
  if (sends) {
    if (partner)
      stream(*this, *partner);
    else
      pump(this);
  } else {
    if (!active) arm();  // the locks are taken before data comes, as the hardware does
    if (partner)
      stream(*partner, *this);
    else
      pump_into(this);
  }
}

// As pump(), where nothing is to be found out. A packet's header goes the long way.
void Channel::stream(Channel &from, Channel &to) {
  while (from.active || from.arm()) {
    if (from.bd->packet >= 0) {
      pump(&from);
      return;
    }
    if (!to.active && !to.arm()) return;
    move(&from, &to);
    if (to.cursor.left == 0) to.finish();
    if (from.cursor.left == 0) from.finish();
  }
}

bool Channel::take_locks() {
  const std::vector<LockUse> &all = bd->acquires;
  for (const LockUse &u : all)
    if (!in_turn(this, u.lock)) return false;
  unclaim(this);
  for (const LockUse &u : all)
    if (!u.lock->grants(u.value, u.exactly)) {
      u.lock->park(this, u.value, u.exactly);
      return false;
    }
  unpark(this);
  for (const LockUse &u : all) take(this, u.lock, u.value, u.exactly);
  return true;
}

bool Channel::arm() {
  while (!active) {
    if (current < 0) {
      if (queue.empty()) return false;
      select(0);
    }
    if (!take_locks()) return false;
    IRON_CHECKED(race_begin(this, queue.front()));
    cursor.begin(*bd, pad);
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
  const Bd &b = *bd;
  IRON_CHECKED(race_transferred(this, b));
  select(b.next);
  for (const LockUse &u : b.releases) {
    IRON_CHECKED(race_release(this, u.lock));
    u.lock->add(u.value);
  }
  if (current < 0) end_task();
}

void Channel::end_task() {
  Task *task = queue.front();
  if (repeats < task->repeat) {
    repeats++;
    select(0);
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
  uint32_t word = (uint32_t)(bd->packet & 31) | (uint32_t)(bd->packet_type & 7) << 12;
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
