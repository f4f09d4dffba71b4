// A page shared with the client: notes for reports, hints, and the answer to a client that does not
// sleep. A cache line for each side that writes.
#pragma once
#include <cstddef>
#include <cstdint>

namespace iron {

struct Status {
  volatile int32_t running;  // index of the core that runs or ran last; -1 the sequence
  // Written by the client: how many runs it has asked for. Its message is on the way.
  alignas(64) volatile int32_t asked;
  // How many runs have begun, so that the client knows whether one was under way when the worker
  // ended; how many were answered. Both wrap like `asked`.
  alignas(64) volatile int32_t begun;
  int32_t answered;
  int32_t told;    // the last answer is a message
  uint64_t steps;  // the last answer
};
static_assert(offsetof(Status, asked) == 64 && offsetof(Status, begun) == 128 &&
              offsetof(Status, answered) == 132 && offsetof(Status, told) == 136 &&
              offsetof(Status, steps) == 144, "the client reads these places");

extern Status *status;

}  // namespace iron
