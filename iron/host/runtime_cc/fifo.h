// The side of an ObjectFifo a core holds: a ring of buffers and two locks.
#pragma once
#include <string>
#include <vector>

#include "lock.h"

namespace iron {

struct End {
  std::string fifo, port, where;
  std::vector<uint8_t *> buffers;
  Lock *acquires = nullptr, *releases = nullptr;  // none: not synchronised
  int32_t repeat = 1;                             // lock counts per object
  int32_t head = 0, held = 0;                     // first held object, how many are held

  // Hold at least `count` objects: only those that are missing are taken. The slot of the first.
  int64_t hold(int32_t count) {
    if (count > held) hold_more(count);
    return head;
  }
  void *object(int64_t first, int32_t index) const {
    auto slot = (size_t)(first + index);
    if (slot >= buffers.size()) slot %= buffers.size();
    return buffers[slot];
  }
  void give(int32_t count);

 private:
  void hold_more(int32_t count);
};

}  // namespace iron
