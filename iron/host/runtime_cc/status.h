// A page shared with the client, so that it can tell which core ran last when it has to kill us.
#pragma once
#include <cstdint>

namespace iron {

struct Status {
  volatile int32_t running;  // index of the core that runs or ran last; -1 the sequence
};

extern Status *status;

}  // namespace iron
