// One device of a design: what it consists of, and how it gets into its first state.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "dma.h"
#include "fifo.h"
#include "image.h"
#include "wires.h"

namespace iron {

struct Buffer {
  std::string name, tile;
  int64_t bytes = 0;
  std::unique_ptr<uint8_t[]> store;
  uint8_t *data = nullptr;       // 64-byte aligned, in store, or in a memory of the network
  std::vector<uint8_t> initial;  // empty: zeros, or what is there when it persists
  bool persists = false;
  int32_t argument = -1;         // of the sequence, when it lies outside the array
};

struct Device {
  std::string name, target;
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<std::unique_ptr<Lock>> locks;
  std::vector<std::unique_ptr<Channel>> channels;
  std::vector<std::unique_ptr<CorePort>> ports;
  std::vector<std::unique_ptr<End>> ends;
  std::vector<std::unique_ptr<Core>> cores;
  std::vector<std::unique_ptr<Cascade>> cascades;
  bool fresh = true;  // its cores have not run since their code was loaded

  std::string bind(Images &images);  // every core to its body; a message or empty
  void pair();                       // channels that have only each other
  void fill();                       // buffers and locks get their first content
  void stop();                       // nothing of it is active or queued any more
  void start();                      // cores and DMA programs from the beginning
};

}  // namespace iron
