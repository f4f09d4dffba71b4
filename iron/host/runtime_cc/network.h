// The process network of one design, read from its text table (`design.net`).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "dma.h"
#include "fifo.h"
#include "sequence.h"
#include "wires.h"

namespace iron {

struct Buffer {
  std::string name, tile;
  int64_t bytes = 0;
  std::unique_ptr<uint8_t[]> store;
  uint8_t *data = nullptr;  // 64-byte aligned, in store
};

struct Network {
  std::string directory, device;
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<std::unique_ptr<Lock>> locks;
  std::vector<std::unique_ptr<Channel>> channels;
  std::vector<std::unique_ptr<CorePort>> ports;
  std::vector<std::unique_ptr<End>> ends;
  std::vector<std::unique_ptr<Core>> cores;
  std::vector<std::unique_ptr<Cascade>> cascades;
  Sequence sequence;

  // Read the table; a message when it cannot be used, else empty.
  std::string read(const std::string &directory);
  // Load the images and bind every core to its body; a message or empty.
  std::string load(const Api *api);
  void start_cores();
};

extern Network *network;

}  // namespace iron
