#include "port.h"

#include "copy.h"
#include "race.h"

#include <algorithm>
#include <cstring>

namespace iron {

static const Route *route_for(const Port *source, int32_t packet) {
  for (const Route &r : source->routes)
    if (r.packet == packet) return &r;
  return nullptr;
}

static bool ready_to_take(const Route *route, Port *source) {
  for (Port *sink : route->sinks) {
    if ((!sink->bound || sink->bound == source) && (sink->active || sink->arm())) continue;
    auto &w = sink->waiting;
    if (sink->feeders.size() > 1 && std::find(w.begin(), w.end(), source) == w.end())
      w.push_back(source);
    return false;
  }
  return true;
}

// A few bytes into one sink, across the runs of its descriptor.
static void deliver(Port *sink, const uint8_t *bytes, int64_t n) {
  while (n > 0) {
    if (!sink->arm()) {
      fail("a packet header does not fit the buffer descriptor of " + sink->name);
      return;
    }
    int64_t k = std::min(n, sink->cursor.run);
    std::memcpy(sink->cursor.at, bytes, (size_t)k);
    sink->cursor.advance(k);
    sink->moved += (uint64_t)k;
    if (sink->cursor.left == 0) sink->finish();
    bytes += k;
    n -= k;
  }
}

// Find the sinks of what the source has begun to send. The id of a packet is in the descriptor,
// or in the first word of the data. False: not now.
static bool find_route(Port *source) {
  int32_t packet = source->packet();
  uint32_t header = source->header();
  bool in_data = packet < 0 && !route_for(source, -1) && !source->routes.empty();
  if (in_data) {
    if (source->cursor.run < 4) {
      fail(source->name + " sends packets by a header in its data, which must be one word");
      return false;
    }
    std::memcpy(&header, source->cursor.at, 4);
    packet = (int32_t)(header & 31u);
  }
  const Route *route = route_for(source, packet);
  if (!route) route = route_for(source, -1);
  if (!route) {
    if (packet >= 0)
      fail(source->name + " sends a packet with id " + std::to_string(packet) +
           ", for which there is no packet flow");
    return false;
  }
  if (!ready_to_take(route, source)) return false;
  source->route = route;
  source->routed = true;
  if (packet >= 0)
    for (Port *sink : route->sinks) {
      sink->bound = source;
      if (route->keep_header) deliver(sink, (const uint8_t *)&header, 4);
    }
  if (in_data) {
    source->cursor.advance(4);
    source->moved += 4;
  }
  return true;
}

static void end_of_packet(Port *source) {
  for (Port *sink : source->route->sinks) {
    if (sink->bound != source) continue;
    sink->bound = nullptr;
    scheduler.ready(sink);
  }
}

void abandon(Port *port) {
  if (port->routed) end_of_packet(port);
  port->routed = false;
  port->route = nullptr;
  port->bound = nullptr;
  port->waiting.clear();
}

void move(Port *source, Port *sink) {
  IRON_CHECKED(race_passed(source, sink));
  Cursor &from = source->cursor, &to = sink->cursor;
  int64_t n = std::min(from.run, to.run);
  if (source->far && from.run > n)
    foresee<false>(from.at + n, std::min(n, from.run - n));
  if (sink->far && to.run > n && n < kPast)
    foresee<true>(to.at + n, std::min(n, to.run - n));
  copy(to.at, from.at, n, sink->far);
  source->moved += (uint64_t)n;
  sink->moved += (uint64_t)n;
  from.advance(n);
  to.advance(n);
}

// The same bytes to several.
static void spread(Port *source, const std::vector<Port *> &sinks) {
  Cursor &from = source->cursor;
  int64_t n = from.run;
  for (Port *sink : sinks) {
    IRON_CHECKED(race_passed(source, sink));
    n = std::min(n, sink->cursor.run);
  }
  if (source->far && from.run > n)
    foresee<false>(from.at + n, std::min(n, from.run - n));
  for (Port *sink : sinks) {
    copy(sink->cursor.at, from.at, n, sink->far);
    sink->moved += (uint64_t)n;
    sink->cursor.advance(n);
    if (sink->cursor.left == 0) sink->finish();
  }
  source->moved += (uint64_t)n;
  from.advance(n);
}

void pump(Port *source) {
  while (scheduler.failure.empty()) {
    if (!source->active && !source->arm()) return;
    if (!source->routed && !find_route(source)) return;
    if (source->cursor.left > 0) {
      if (!ready_to_take(source->route, source)) return;
      const std::vector<Port *> &sinks = source->route->sinks;
      if (sinks.size() > 1) {
        spread(source, sinks);
      } else {
        move(source, sinks[0]);
        if (sinks[0]->cursor.left == 0) sinks[0]->finish();
      }
    }
    if (source->cursor.left == 0) {
      end_of_packet(source);
      source->routed = false;
      source->route = nullptr;
      source->finish();
    }
  }
}

void pump_into(Port *sink) {
  if (sink->feeders.size() == 1) {
    pump(sink->feeders[0]);
    return;
  }
  std::vector<Port *> order;  // who is not in it has nothing to send, or will be served itself
  order.swap(sink->waiting);
  for (Port *f : order) pump(f);
}

}  // namespace iron
