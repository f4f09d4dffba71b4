// Buffer descriptors and the walk over the bytes they describe.
#pragma once
#include <cstdint>
#include <vector>

#include "lock.h"

namespace iron {

struct LockUse {
  Lock *lock;
  int32_t value;
  bool exactly;
};

struct Dimension {
  int64_t size, stride;  // elements
  int32_t before = 0, after = 0;
};

struct Bd {
  uint8_t *base = nullptr;
  int64_t offset = 0, length = 0;   // elements; padding is not counted in the length
  int32_t element = 1;              // bytes
  int32_t next = -1;
  int32_t packet = -1, packet_type = 0;
  bool plain = false;               // one contiguous run, the same every time
  bool padded = false;
  std::vector<LockUse> acquires, releases;
  std::vector<Dimension> dims;      // outermost first; empty: contiguous
  int64_t iteration_size = 0, iteration_stride = 0;
  int64_t iteration = 0;            // executions so far, modulo the size
  int64_t first_iteration = 0;      // where it begins

  void simplify();                  // merge dimensions that are contiguous; when all is set
  int64_t bytes() const;            // of the stream, padding included
  // Lowest and one past the highest element touched, all iterations included.
  void extent(int64_t &low, int64_t &high) const;

 private:
  void merge_dims();
};

class Cursor {
  const Bd *bd_ = nullptr;
  const uint8_t *pad_ = nullptr;    // the 8 bytes that fill padding
  int64_t shift_ = 0;
  int64_t index_[8];
  int rank_ = 0;

 public:                            // last, beside what a port uses together with it
  uint8_t *at = nullptr;
  int64_t run = 0, left = 0;        // contiguous bytes here, bytes to the end

  void begin(Bd &bd, const uint8_t *pad) {
    if (!bd.plain) {
      begin_walk(bd, pad);
      return;
    }
    at = bd.base + bd.offset * bd.element;
    run = left = bd.length * bd.element;
  }
  void advance(int64_t n) {         // n <= run
    at += n;
    run -= n;
    left -= n;
    if (run == 0 && left != 0) turn();
  }

 private:
  void begin_walk(Bd &bd, const uint8_t *pad);
  void locate();
  void turn();
};

}  // namespace iron
