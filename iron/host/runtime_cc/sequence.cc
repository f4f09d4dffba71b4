#include "sequence.h"

#include <algorithm>

#include "memory.h"
#include "race.h"

namespace iron {

Sequence *sequence = nullptr;

Task *task_new(Channel *channel, int32_t repeat, int32_t token) {
  auto task = std::make_unique<Task>();
  task->channel = channel;
  task->repeat = repeat;
  task->token = token != 0;
  task->from_sequence = true;
  sequence->tasks.push_back(std::move(task));
  return sequence->tasks.back().get();
}

// A transfer outside its argument would read or destroy memory that is not its own.
static void check_extent(Task *task, const Bd &b, size_t argument) {
  const Argument &a = sequence->arguments[argument];
  int64_t low, high;
  b.extent(low, high);
  int64_t base = b.base - (uint8_t *)a.data;
  if (b.bytes() == 0 || (base + low * b.element >= 0 && base + high * b.element <= a.bytes)) return;
  fail("a transfer on " + task->channel->name + " reaches elements " + std::to_string(low) + " to " +
       std::to_string(high - 1) + " of argument " + std::to_string(argument) + ", which has " +
       std::to_string(a.bytes / b.element) + " elements of " + std::to_string(b.element) +
       " bytes\n  at " + sequence->site());
}

void task_bd(Task *task, const TaskBd *t) {
  Bd b;
  b.base = (uint8_t *)t->base;
  b.offset = t->offset;
  b.length = t->length;
  b.element = t->element;
  for (int k = 0; k < t->rank; k++)
    b.dims.push_back({t->sizes[k], t->strides[k], t->before[k], t->after[k]});
  b.iteration_size = t->iteration_size;
  b.iteration_stride = t->iteration_stride;
  b.packet = t->packet;
  b.packet_type = t->packet_type;
  b.next = t->next;
  b.simplify();
  for (size_t i = 0; i < sequence->arguments.size(); i++) {
    const Argument &a = sequence->arguments[i];
    auto *data = (uint8_t *)a.data;
    if (!data || b.base < data || b.base > data + a.bytes) continue;
    check_extent(task, b, i);
    task->segments.push_back(sequence->segments[i]);
    break;
  }
  task->bds.push_back(std::move(b));
}

void task_lock(Task *task, Lock *lock, int32_t value, int32_t action) {
  Bd &b = task->bds.back();
  (action == 1 ? b.releases : b.acquires).push_back({lock, value, action == 0});
}

void task_start(Task *task) {
  if (task->started && !task->done) {
    fail("a task on " + task->channel->name + " is started again before it is done\n  at " +
         sequence->site());
    return;
  }
  if (task->done) {  // start again from the beginning
    auto &t = task->channel->tokens;
    t.erase(std::remove(t.begin(), t.end(), task), t.end());
    task->done = false;
    for (Bd &b : task->bds) b.iteration = 0;
  }
  for (int32_t s : task->segments) memory.pin(s);
  IRON_CHECKED(race_release(sequence, task));
  task->channel->enqueue(task);
}

void task_await(Task *task) {
  if (!task->started) {
    fail("a task on " + task->channel->name + " is awaited but was never started\n  at " +
         sequence->site());
    return;
  }
  sequence->awaits = task;
  while (!task->done) Fiber::suspend();
  sequence->awaits = nullptr;
  IRON_CHECKED(race_passed(task->channel, sequence));
  auto &t = task->channel->tokens;
  t.erase(std::remove(t.begin(), t.end(), task), t.end());
}

void task_free(Task *task) { task->freed = true; }

void channel_wait(Channel *channel) {
  sequence->awaits_channel = channel;
  while (channel->tokens.empty()) Fiber::suspend();
  sequence->awaits_channel = nullptr;
  IRON_CHECKED(race_passed(channel, sequence));
  channel->tokens.pop_front();
}

void task_finished(Task *task) {
  if (!task->from_sequence) return;
  for (int32_t s : task->segments) memory.unpin(s);
  if (sequence->awaits == task || sequence->awaits_channel == task->channel)
    scheduler.go_on(sequence);
}

void task_lost(Task *task) {
  if (task->from_sequence && task->started && !task->done)
    for (int32_t s : task->segments) memory.unpin(s);
  task->started = task->done = false;
}

void drop_finished_tasks() {
  auto &all = sequence->tasks;
  for (auto &t : all)
    if (!t->started || t->done) {
      auto &k = t->channel->tokens;
      k.erase(std::remove(k.begin(), k.end(), t.get()), k.end());
    }
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const auto &t) { return !t->started || t->done; }),
            all.end());
}

}  // namespace iron
