// One deterministic scheduler: a queue of processes that can do something, served first in first
// out unless a seed is given. A process is a fiber (a core, the runtime sequence) or a DMA channel. No clock and no
// thread of the system has a say in the order.
#pragma once
#include <cstdint>
#include <string>

namespace iron {

struct Lock;
struct Fiber;

struct Process {
  virtual ~Process() = default;
  virtual void step() = 0;  // run until there is nothing left to do without waiting

  Process *next = nullptr;        // in the run queue
  Process *next_waiter = nullptr; // in a lock's list
  Lock *waits_for = nullptr;
  int32_t wants = 0;
  bool wants_exactly = false;
  Lock *claim = nullptr;          // a lock it may try before those that came later
  bool queued = false;
};

class Scheduler {
 public:
  // Put a process at the end of the queue; once only.
  void ready(Process *p);
  // Take a process out of the queue.
  void forget(Process *p);
  // Serve the queue until it is empty or `stop` is set.
  void run();
  bool idle() const { return head_ == nullptr; }

  bool stop = false;      // set when the sequence has ended or something failed
  std::string failure;    // why the run cannot go on; empty when it can
  uint64_t steps = 0;
  // Not zero: who is served next is drawn by lot, the same lots for the same seed.
  uint64_t seed = 0;

 private:
  Process *draw();
  uint64_t count_ = 0;
  Process *head_ = nullptr, *tail_ = nullptr;
};

extern Scheduler scheduler;

// End the run with a message. In a fiber this does not return.
void fail(const std::string &why);

}  // namespace iron
