// DMA channels: a queue of tasks, each a chain of buffer descriptors, run without a stack.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "port.h"

namespace iron {

struct Channel;

struct Task {
  Channel *channel;
  std::vector<Bd> bds;
  int32_t repeat = 0;        // executions after the first
  bool token = false;        // says when it is done
  bool started = false, done = false, freed = false;
  bool from_sequence = false;
  std::vector<int32_t> segments;  // of shared memory it points into, pinned while it runs
};

struct Channel final : Port {
  bool sends = false;        // MM2S
  int32_t current = -1;      // descriptor of queue.front(), which `bd` is when there is one
  Bd *bd = nullptr;
  Channel *partner = nullptr;  // when a circuit connects these two and nothing else
  int32_t repeats = 0;
  std::deque<Task *> queue;
  std::deque<Task *> tokens; // finished tasks whose token nobody has taken
  std::vector<std::unique_ptr<Task>> program;  // tasks that are there from the start
  int32_t index = 0;
  bool shim = false;
  std::string symbol;        // what the sequence calls it
  uint8_t pad[8] = {0};

  void step() override;
  bool arm() override;
  void finish() override;
  int32_t packet() const override { return bd->packet; }
  uint32_t header() const override;

  void enqueue(Task *task);
  void reset();              // forget what is under way and queued
  void restart();            // queue the program from its beginning

 private:
  void select(int32_t number) {
    current = number;
    if (number >= 0) bd = &queue.front()->bds[(size_t)number];
  }
  bool take_locks();
  void end_bd();
  void end_task();
  static void stream(Channel &from, Channel &to);
};

}  // namespace iron
