// Streams: a source hands its bytes to its sinks while all of them are ready, without a buffer in
// between. Sources and sinks are DMA channels and the stream ports of cores.
#pragma once
#include <string>
#include <vector>

#include "bd.h"
#include "scheduler.h"

namespace iron {

struct Port;

struct Route {
  int32_t packet;      // id of the packets that go here; -1: everything (circuit)
  bool keep_header;
  std::vector<Port *> sinks;
};

struct Port : Process {
  std::string name, tile, fifo, where;
  std::vector<Route> routes;       // of a source
  std::vector<Port *> feeders;     // of a sink
  std::vector<Port *> waiting;     // feeders that had something to send, in order of arrival
  Cursor cursor;
  uint64_t moved = 0;              // bytes
  Port *bound = nullptr;           // the source whose packet a sink is taking in
  const Route *route = nullptr;
  bool routed = false;             // the sinks for these bytes are known
  bool active = false;             // there are bytes to move
  bool far = false;                // its buffers are the host's, which are large

  virtual bool arm() = 0;          // become active if possible
  virtual void finish() = 0;       // the cursor is at its end
  virtual int32_t packet() const { return -1; }
  virtual uint32_t header() const { return 0; }
};

// A port gives up what it is in the middle of; its partners are free for others.
void abandon(Port *port);
// The bytes that lie together in both; the sink is armed, and neither is finished here.
void move(Port *source, Port *sink);
// Move what can be moved out of a source.
void pump(Port *source);
// Move what can be moved into a sink; of several sources, who came first is served first.
void pump_into(Port *sink);

}  // namespace iron
