#include "port.h"

#include "race.h"

#include <algorithm>
#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace iron {

namespace {
constexpr int64_t kForesight = 8192;  // bytes
constexpr int64_t kLong = 1 << 16;    // bytes
constexpr int64_t kPast = 1024;       // bytes of a copy from which going past the caches pays
}

static const Route *route_for(const Port *source, int32_t packet) {
  for (const Route &r : source->routes)
    if (r.packet == packet) return &r;
  return nullptr;
}

static bool ready_to_take(const Route *route, Port *source) {
  for (Port *sink : route->sinks) {
    if ((!sink->bound || sink->bound == source) && sink->arm()) continue;
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

// The host's memory is read and written in stretches that the processor cannot foresee, since
// many channels take turns: the next one is asked for while this one is copied.
static void foresee(const Port *port, int64_t n) {
  if (!port->far || port->cursor.run <= n) return;
  const uint8_t *next = port->cursor.at + n;
  int64_t reach = std::min(std::min(n, port->cursor.run - n), kForesight);
  if (port->sends_far)
    for (int64_t k = 0; k < reach; k += 64) __builtin_prefetch(next + k, 0, 2);
  else
    for (int64_t k = 0; k < reach; k += 64) __builtin_prefetch(next + k, 1, 2);
}

#ifdef __AVX2__
// Copies of whole blocks. One into memory of the host goes past the caches: its lines are written
// whole, so that they need not be read first.
template <bool Past> static int64_t copy_blocks(uint8_t *to, const uint8_t *from, int64_t n) {
  int64_t whole = n & ~(int64_t)127;
  for (int64_t k = 0; k < whole; k += 128)
    for (int64_t j = k; j < k + 128; j += 32) {
      __m256i v = _mm256_loadu_si256((const __m256i *)(from + j));
      if (Past)
        _mm256_stream_si256((__m256i *)(to + j), v);
      else
        _mm256_storeu_si256((__m256i *)(to + j), v);
    }
  if (Past) _mm_sfence();
  return whole;
}
#endif

static void copy(uint8_t *to, const uint8_t *from, int64_t n, bool far) {
#ifdef __AVX2__
  int64_t done = 0;
  if (n >= kPast && far && ((uintptr_t)to & 31) == 0)
    done = copy_blocks<true>(to, from, n);
  else if (n < kLong)  // the library's way of copying starts slowly
    done = copy_blocks<false>(to, from, n);
  to += done;
  from += done;
  n -= done;
#else
  (void)far;
#endif
  if (n) std::memcpy(to, from, (size_t)n);
}

static void move(Port *source, const Route *route) {
  Cursor &from = source->cursor;
  IRON_CHECKED(for (Port *sink : route->sinks) race_passed(source, sink));
  if (route->sinks.size() == 1) {
    Port *sink = route->sinks[0];
    int64_t n = std::min(from.run, sink->cursor.run);
    foresee(source, n);
    if (n < kPast) foresee(sink, n);
    copy(sink->cursor.at, from.at, n, sink->far);
    from.advance(n);
    source->moved += (uint64_t)n;
    sink->moved += (uint64_t)n;
    sink->cursor.advance(n);
    if (sink->cursor.left == 0) sink->finish();
    return;
  }
  int64_t n = from.run;
  for (Port *sink : route->sinks) n = std::min(n, sink->cursor.run);
  foresee(source, n);
  for (Port *sink : route->sinks) {
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
    if (!source->arm()) return;
    if (!source->routed && !find_route(source)) return;
    if (source->cursor.left > 0) {
      if (!ready_to_take(source->route, source)) return;
      move(source, source->route);
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
