// Messages between the worker and its client over one socket.
//
// A message is two little-endian words, kind and size, and a payload. A shared memory segment
// comes with its descriptor attached.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace iron {

enum Message : uint32_t {
  kSegment = 1,   // to us: int32 id, int64 bytes, and a descriptor
  kDrop = 2,      // to us: int32 id
  kRun = 3,       // to us: WireArgument...; the client sleeps until it is answered
  kRunWatched = 4,// to us: the same; the client watches the status page, and only when that
                  // takes long sends ...
  kTell = 5,      // to us: ... this, to be told by a message
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

class Client {
 public:
  int socket = -1;

  // False: the client has gone. The payload is good until the next call; `descriptor` is -1
  // where the message has none.
  bool receive(uint32_t &kind, const uint8_t *&payload, size_t &size, int &descriptor);
  bool send(uint32_t kind, const void *payload, size_t size) const;
  bool send(uint32_t kind, const std::string &text) const {
    return send(kind, text.data(), text.size());
  }
  // The run asked for is over. Its result is put on the status page if the client watches and it
  // is no more than the steps, else it is sent.
  bool answer(bool watched, uint64_t steps, const std::string &unfinished);
  // The client has ceased to watch.
  bool tell();

 private:
  bool more();    // read what there is, at least something
  void linger();  // look for a request without sleeping, for a moment

  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(4096);
  size_t from_ = 0, to_ = 0;     // of bytes_: read and not yet handed out
  std::deque<int> descriptors_;
  bool told_ = true;             // the last answer has been sent
  int64_t answered_at_ = 0;      // ns; 0 before the first answer
  bool lingers_ = false;
};

extern Client client;

}  // namespace iron
