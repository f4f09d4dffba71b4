// What a kernel may use directly between cores: the cascade and the core's stream ports.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "fiber.h"
#include "image.h"
#include "port.h"

namespace iron {

// A queue of words from one core to its neighbour; a full one blocks the writer.
struct Cascade {
  static constexpr size_t kDepth = 2;  // entries
  std::deque<std::vector<uint8_t>> words;
  Fiber *reader = nullptr, *writer = nullptr;  // who waits
  std::string name;
};

struct CorePort : Port {
  Fiber *owner = nullptr;
  bool sends = false;
  int32_t index = 0;
  void step() override;
  bool arm() override { return active; }
  void finish() override;
  void drop();                            // what is under way
  void transfer(void *bytes, int32_t n);  // by the owning fiber
};

struct Core : Fiber {
  using Fiber::Fiber;
  std::string tile, image, body_name, where;
  Loaded loaded;
  std::vector<std::string> sites;
  std::vector<End *> ends;
  std::vector<void *> buffers;
  std::vector<Lock *> locks;
  std::vector<Channel *> channels;
  Cascade *cascade_in = nullptr, *cascade_out = nullptr;
  std::vector<CorePort *> ports;
  std::string site() const;  // source line it stands at
};

void cascade_put(const void *bytes, int32_t n);
void cascade_get(void *bytes, int32_t n);
void stream_put(int32_t port, const void *bytes, int32_t n, int32_t last);
void stream_get(int32_t port, void *bytes, int32_t n);

}  // namespace iron
