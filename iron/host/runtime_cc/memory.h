// Shared memory of the client, mapped once and kept while anything points into it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>

namespace iron {

class Memory {
 public:
  bool add(int32_t id, int fd, size_t bytes);  // maps and closes fd
  void drop(int32_t id);                       // the client has let go of it
  uint8_t *at(int32_t id, size_t offset, size_t bytes) const;  // null: no such place
  void pin(int32_t id);
  void unpin(int32_t id);

 private:
  struct Segment {
    uint8_t *data;
    size_t bytes;
    int pins;
    bool dropped;
  };
  void release(std::map<int32_t, Segment>::iterator at);
  std::map<int32_t, Segment> segments_;
};

extern Memory memory;

}  // namespace iron
