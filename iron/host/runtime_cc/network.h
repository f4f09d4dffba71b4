// The process network of one design, read from its text table (`design.net`).
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device.h"
#include "sequence.h"

namespace iron {

struct Network {
  std::string directory;
  std::vector<std::unique_ptr<Device>> devices;  // the first is loaded at the start
  std::map<std::string, std::vector<uint8_t>> memories;  // of tiles, outlive a reconfiguration
  Device *loaded = nullptr;
  Sequence sequence;
  std::unique_ptr<Images> images;

  // Read the table; a message when it cannot be used, else empty.
  std::string read(const std::string &directory);
  // Load the images and bind every core to its body; a message or empty.
  std::string load(const Api *api);
  // Another device takes the array; by the sequence.
  void reconfigure(Device *next);
  // The argument an external buffer stands for is copied in before a run, out after it.
  void copy_external(bool in);
};

extern Network *network;

void device_load(int32_t number, int32_t afresh);
void core_reset(const char *tile);
void channel_reset(Channel *, int32_t restart);

}  // namespace iron
