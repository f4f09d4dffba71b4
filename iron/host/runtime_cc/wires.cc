#include "wires.h"

#include "race.h"

#include <cstring>

namespace iron {

static Core *here() { return static_cast<Core *>(Fiber::current); }

static void wait_as(const char *what, const void *object) {
  Fiber::current->waits_text = what;
  Fiber::current->waits_object = object;
  Fiber::suspend();
  Fiber::current->waits_text = nullptr;
}

std::string Core::site() const {
  size_t i = (size_t)context.site;
  return i < sites.size() && !sites[i].empty() ? sites[i] : where;
}

void cascade_put(const void *bytes, int32_t n) {
  Cascade *c = here()->cascade_out;
  if (!c) {
    fail(here()->name + " writes to the cascade, but no cascade leaves its tile");
    return;
  }
  while (c->words.size() >= Cascade::kDepth) {
    c->writer = here();
    wait_as("room in the cascade to the next core", c);
  }
  IRON_CHECKED(race_release(here(), c));
  c->words.emplace_back((const uint8_t *)bytes, (const uint8_t *)bytes + n);
  if (c->reader) scheduler.go_on(c->reader);
  c->reader = nullptr;
}

void cascade_get(void *bytes, int32_t n) {
  Cascade *c = here()->cascade_in;
  if (!c) {
    fail(here()->name + " reads the cascade, but no cascade enters its tile");
    return;
  }
  while (c->words.empty()) {
    c->reader = here();
    wait_as("a word from the cascade", c);
  }
  if (c->words.front().size() != (size_t)n)
    fail(here()->name + " reads " + std::to_string(n) + " bytes from the cascade, but " +
         std::to_string(c->words.front().size()) + " were written");
  IRON_CHECKED(race_acquire(here(), c));
  std::memcpy(bytes, c->words.front().data(), (size_t)n);
  c->words.pop_front();
  if (c->writer) scheduler.go_on(c->writer);
  c->writer = nullptr;
}

void CorePort::step() {
  if (sends) {
    pump(this);
  } else {
    pump_into(this);
  }
}

void CorePort::finish() {
  active = false;
  scheduler.go_on(owner);
}

void CorePort::drop() {
  active = false;
  abandon(this);
}

void CorePort::transfer(void *bytes, int32_t n) {
  cursor = Cursor();
  cursor.at = (uint8_t *)bytes;
  cursor.run = cursor.left = n;
  active = true;
  step();
  while (active) wait_as(sends ? "a reader of its stream port" : "a word on its stream port", this);
}

static CorePort *port_of(bool sends, int32_t index) {
  for (CorePort *p : here()->ports)
    if (p->sends == sends && p->index == index) return p;
  fail(here()->name + " uses stream port " + std::to_string(index) + (sends ? " to send" : " to receive") +
       ", but no flow is connected to it");
  return nullptr;
}

void stream_put(int32_t index, const void *bytes, int32_t n, int32_t) {
  if (CorePort *p = port_of(true, index)) p->transfer(const_cast<void *>(bytes), n);
}

void stream_get(int32_t index, void *bytes, int32_t n) {
  if (CorePort *p = port_of(false, index)) p->transfer(bytes, n);
}

}  // namespace iron
