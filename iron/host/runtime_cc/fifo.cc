#include "fifo.h"

#include "fiber.h"
#include "race.h"

namespace iron {

void End::hold_more(int32_t count) {
  if (count > (int32_t)buffers.size())
    fail(Fiber::current->name + " acquires " + std::to_string(count) + " objects of '" + fifo +
         "', whose depth there is " + std::to_string(buffers.size()));
  if (acquires) acquire(acquires, (count - held) * repeat, false);
  held = count;
}

void End::give(int32_t count) {
  if (count > held)
    fail(Fiber::current->name + " releases " + std::to_string(count) + " objects of '" + fifo +
         "' but holds " + std::to_string(held));
  held -= count;
  head += count;
  if (head >= (int32_t)buffers.size()) head -= (int32_t)buffers.size();
  if (!releases) return;
  IRON_CHECKED(race_release(Fiber::current, releases));
  releases->add(count * repeat);
}

}  // namespace iron
