#include "network.h"

#include <cstring>

#include "image.h"

namespace iron {

Network *network = nullptr;

std::string Network::load(const Api *api) {
  images = std::make_unique<Images>(directory, api);
  for (auto &d : devices) {
    d->pair();
    std::string why = d->bind(*images);
    if (!why.empty()) return why;
  }
  Sequence &s = sequence;
  std::string why = images->bind(s.image, s.body_name, s.loaded, s.body);
  if (!why.empty()) return why;
  loaded = devices.front().get();
  loaded->fill();
  loaded->start();
  return "";
}

void Network::reconfigure(Device *next) {
  loaded->stop();
  if (!next->fresh) {  // static data of kernels begins again, as all memory of a core does
    std::string why = next->bind(*images);
    if (!why.empty()) fail(why);
  }
  loaded = next;
  next->fill();
  next->start();
}

void Network::copy_external(bool in) {
  for (auto &d : devices)
    for (auto &b : d->buffers) {
      if (b->argument < 0) continue;
      void *outside = sequence.arguments[(size_t)b->argument].data;
      if (in)
        std::memcpy(b->data, outside, (size_t)b->bytes);
      else
        std::memcpy(outside, b->data, (size_t)b->bytes);
    }
}

}  // namespace iron
