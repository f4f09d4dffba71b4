#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

namespace iron {

Memory memory;

bool Memory::add(int32_t id, int fd, size_t bytes) {
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (p == MAP_FAILED) return false;
  segments_[id] = {(uint8_t *)p, bytes, 0, false};
  return true;
}

void Memory::release(std::map<int32_t, Segment>::iterator at) {
  if (!at->second.dropped || at->second.pins > 0) return;
  munmap(at->second.data, at->second.bytes);
  segments_.erase(at);
}

void Memory::drop(int32_t id) {
  auto at = segments_.find(id);
  if (at == segments_.end()) return;
  at->second.dropped = true;
  release(at);
}

uint8_t *Memory::at(int32_t id, size_t offset, size_t bytes) const {
  auto at = segments_.find(id);
  if (at == segments_.end() || offset > at->second.bytes || bytes > at->second.bytes - offset)
    return nullptr;
  return at->second.data + offset;
}

void Memory::pin(int32_t id) {
  auto at = segments_.find(id);
  if (at != segments_.end()) at->second.pins++;
}

void Memory::unpin(int32_t id) {
  auto at = segments_.find(id);
  if (at == segments_.end()) return;
  at->second.pins--;
  release(at);
}

}  // namespace iron
