// Is this worker compiled with the address sanitizer (IRON_HOST_SANITIZE=address)?
#pragma once
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define IRON_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IRON_ASAN 1
#endif
#endif

#ifdef IRON_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace iron {

// Memory that nobody may use.
inline void forbid(const void *at, size_t bytes) {
#ifdef IRON_ASAN
  if (bytes) __asan_poison_memory_region(at, bytes);
#else
  (void)at;
  (void)bytes;
#endif
}

}  // namespace iron
