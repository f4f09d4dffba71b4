// Messages between the worker and its client over one socket.
//
// A message is two little-endian words, kind and size, and a payload. A shared memory segment
// comes with its descriptor attached to the head.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace iron {

enum Message : uint32_t {
  kSegment = 1,   // to us: int32 id, int64 bytes, and a descriptor
  kDrop = 2,      // to us: int32 id
  kRun = 3,       // to us: WireArgument...
  kReady = 16,    // from us: loaded
  kDone = 17,     // from us: uint64 steps, then text of unfinished transfers
  kFailed = 18,   // from us: text; the worker ends
  kDeadlock = 19, // from us: text; the worker ends
  kCrash = 20,    // from us: text; the worker ends
  kRace = 21,     // from us: text; the worker ends
};

struct WireArgument {
  int32_t kind;     // 0 memory, 1 integer, 2 real
  int32_t segment;
  int64_t offset, bytes, integer;
  double real;
};
static_assert(sizeof(WireArgument) == 40, "the client packs it as <iiqqqd");

struct Client {
  int socket = -1;
  // False: the client has gone.
  bool receive(uint32_t &kind, std::vector<uint8_t> &payload, int &descriptor) const;
  bool send(uint32_t kind, const std::string &payload) const;
};

extern Client client;

}  // namespace iron
