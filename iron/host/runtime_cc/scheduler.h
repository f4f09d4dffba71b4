// One deterministic scheduler: a queue of processes that can do something. A process is a fiber (a
// core, the runtime sequence) or a DMA channel. No clock and no thread of the system has a say in
// the order.
//
// Who waited for what the running process has just given is served next, while the data is in the
// nearest cache; the others are served first come, first served. Now and then the turn is of those
// that have waited longest, so that nobody waits for ever. A seed draws lots instead.
#pragma once
#include <cstdint>
#include <string>

namespace iron {

struct Lock;
struct Fiber;

struct Process {
  virtual ~Process() = default;
  virtual void step() = 0;  // run until there is nothing left to do without waiting

  Process *next = nullptr, *previous = nullptr;  // in the run queue
  Process *next_waiter = nullptr; // in a lock's list
  Lock *waits_for = nullptr;
  int32_t wants = 0;
  bool wants_exactly = false;
  Lock *claim = nullptr;          // a lock it may try before those that came later
  struct Queue *queue = nullptr;  // that it is in
  bool takes_away = false;        // data from a tile, or the result of the run
};

struct Queue {
  Process *head = nullptr, *tail = nullptr;
  uint64_t count = 0;

  void insert(Process *p, Process *after) {  // null: at the head
    p->queue = this;
    p->previous = after;
    p->next = after ? after->next : head;
    (after ? after->next : head) = p;
    (p->next ? p->next->previous : tail) = p;
    ++count;
  }
  void remove(Process *p) {
    p->queue = nullptr;
    (p->previous ? p->previous->next : head) = p->next;
    (p->next ? p->next->previous : tail) = p->previous;
    --count;
  }
};

class Scheduler {
 public:
  // It has something to do. Who is to be served already stays where it is, here and below.
  void ready(Process *p) {
    if (!p->queue) later_.insert(p, later_.tail);
  }
  // It can go on with what the running process has just done. Of several, who takes data away
  // goes before who brings more; else in the order they are told.
  void go_on(Process *p) {
    if (p->queue) return;
    Process *&last = p->takes_away ? taker_ : other_;
    next_.insert(p, last ? last : taker_);
    last = p;
  }
  // It has nothing to do any more.
  void forget(Process *p) {
    if (!p->queue) return;
    p->queue->remove(p);
    taker_ = other_ = nullptr;
  }
  // Serve processes until none has anything to do or `stop` is set.
  void run();

  bool stop = false;      // set when the sequence has ended or something failed
  std::string failure;    // why the run cannot go on; empty when it can
  uint64_t steps = 0;
  // Not zero: who is served next is drawn by lot, the same lots for the same seed.
  uint64_t seed = 0;

 private:
  Process *choose();
  Process *draw();
  Queue next_, later_;
  Process *taker_ = nullptr, *other_ = nullptr;  // the last ones told by the running process
};

extern Scheduler scheduler;

// End the run with a message. In a fiber this does not return.
void fail(const std::string &why);

}  // namespace iron
