// Moving bytes between memories of tiles, which are small and in the caches, and of the host,
// which are large ("far").
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace iron {

constexpr int64_t kForesight = 8192;  // bytes
constexpr int64_t kLong = 1 << 16;    // bytes
constexpr int64_t kPast = 256;      // bytes of a copy from which going past the caches pays

// The host's memory is read and written in stretches that the processor cannot foresee, since
// many channels take turns: the next one, of `n` bytes after `at`, is asked for while this one is
// copied.
template <bool Writes> void foresee(const uint8_t *next, int64_t n) {
  n = std::min(n, kForesight);
  for (int64_t k = 0; k < n; k += 64) __builtin_prefetch(next + k, Writes, 2);
}

#ifdef __AVX2__
// Copies of whole blocks. One into memory of the host goes past the caches: its lines are written
// whole, so that they need not be read first.
template <bool Past> inline int64_t copy_blocks(uint8_t *to, const uint8_t *from, int64_t n) {
  int64_t whole = n & ~(int64_t)127;
  for (int64_t k = 0; k < whole; k += 128)
    for (int64_t j = k; j < k + 128; j += 32) {
      __m256i v = _mm256_loadu_si256((const __m256i *)(from + j));
      if (Past)
        _mm256_stream_si256((__m256i *)(to + j), v);
      else
        _mm256_storeu_si256((__m256i *)(to + j), v);
    }
  return whole;
}
#endif

// What went past the caches is there for other processors. Before anything is told to them.
inline void settle() {
#ifdef __AVX2__
  _mm_sfence();
#endif
}

inline void copy(uint8_t *to, const uint8_t *from, int64_t n, bool far) {
#ifdef __AVX2__
  int64_t done = 0;
  if (n >= kPast && far && ((uintptr_t)to & 31) == 0)
    done = copy_blocks<true>(to, from, n);
  else if (n < kLong)  // the library's way of copying starts slowly
    done = copy_blocks<false>(to, from, n);
  to += done;
  from += done;
  n -= done;
#else
  (void)far;
#endif
  if (n) std::memcpy(to, from, (size_t)n);
}

}  // namespace iron
