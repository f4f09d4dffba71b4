#include "device.h"

#include <cstring>

#include "network.h"

namespace iron {

namespace {
constexpr size_t kStackBytes = 1 << 20;
}

std::string Device::bind(Images &images) {
  for (auto &c : cores) {
    std::string why = images.bind(c->image, c->body_name, c->loaded, c->body);
    if (!why.empty()) return c->name + ": " + why;
  }
  fresh = true;
  return "";
}

void Device::pair() {
  for (auto &c : channels) {
    if (!c->sends || c->routes.size() != 1) continue;
    const Route &r = c->routes.front();
    auto *sink = r.sinks.size() == 1 ? dynamic_cast<Channel *>(r.sinks.front()) : nullptr;
    if (!sink || r.packet >= 0 || sink->feeders.size() != 1) continue;
    c->partner = sink;
    sink->partner = c.get();
  }
}

void Device::fill() {
  for (auto &b : buffers) {
    if (b->argument >= 0) continue;
    if (!b->initial.empty())
      std::memcpy(b->data, b->initial.data(), b->initial.size());
    else if (!b->persists)
      std::memset(b->data, 0, (size_t)b->bytes);
  }
  for (auto &k : locks) {
    k->value = k->initial;
    k->waiters = nullptr;
    k->claims = 0;
  }
  for (auto &e : ends) e->head = e->held = 0;
}

void Device::stop() {
  for (auto &c : cores) {
    scheduler.forget(c.get());
    unpark(c.get());
    unclaim(c.get());
    c->started = false;
    c->waits_text = nullptr;
  }
  for (auto &c : channels) c->reset();
  for (auto &p : ports) {
    scheduler.forget(p.get());
    p->drop();
  }
  for (auto &c : cascades) {
    c->words.clear();
    c->reader = c->writer = nullptr;
  }
}

void Device::start() {
  fresh = false;
  for (auto &c : channels) c->restart();
  for (auto &c : cores) c->start(c->body, kStackBytes);
}

void device_load(int32_t number, int32_t afresh) {
  Device *next = network->devices[(size_t)number].get();
  if (next != network->loaded || afresh) network->reconfigure(next);
}

void core_reset(const char *tile) {
  for (auto &c : network->loaded->cores) {
    if (c->tile != tile) continue;
    scheduler.forget(c.get());
    unpark(c.get());
    unclaim(c.get());
    for (End *e : c->ends) e->head = e->held = 0;  // what the core knew is lost
    for (CorePort *p : c->ports) p->drop();
    c->waits_text = nullptr;
    c->start(c->body, kStackBytes);
    return;
  }
}

void channel_reset(Channel *c, int32_t restart) {
  if (restart)
    c->restart();
  else
    c->reset();
}

}  // namespace iron
