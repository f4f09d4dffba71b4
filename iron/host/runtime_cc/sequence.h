// What the runtime sequence does: it configures, starts and awaits DMA tasks, sets locks.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "dma.h"
#include "wires.h"

namespace iron {

struct Parameter {  // of the runtime sequence
  std::string dtype;
  int64_t bytes;    // declared size; -1 unknown
  bool scalar;
};

struct Sequence : Core {
  Sequence() : Core("the runtime sequence", -1) { takes_away = true; }
  std::vector<Parameter> parameters;
  std::vector<Argument> arguments;       // of this run
  std::vector<int32_t> segments;         // memory segment of each argument, -1 for a number
  std::vector<std::unique_ptr<Task>> tasks;
  Task *awaits = nullptr;
  Channel *awaits_channel = nullptr;
};

extern Sequence *sequence;

Task *task_new(Channel *, int32_t repeat, int32_t token);
void task_bd(Task *, const TaskBd *);
void task_lock(Task *, Lock *, int32_t value, int32_t action);
void task_start(Task *);
void task_await(Task *);
void task_free(Task *);
void channel_wait(Channel *);
void task_finished(Task *);  // called by its channel
void drop_finished_tasks();  // at the end of a run
void task_lost(Task *);       // its channel was reset: as if it had never been started

}  // namespace iron
