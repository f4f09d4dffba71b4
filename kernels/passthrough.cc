// Copies a line of elements. -DBIT_WIDTH=8|16|32 chooses the element (default 32).
#include <cstdint>
#include <cstring>

#ifndef BIT_WIDTH
#define BIT_WIDTH 32
#endif

#if BIT_WIDTH == 8
using element = std::uint8_t;
#elif BIT_WIDTH == 16
using element = std::int16_t;
#elif BIT_WIDTH == 32
using element = std::int32_t;
#else
#error "BIT_WIDTH is 8, 16 or 32"
#endif

extern "C" void passThroughLine(const element *in, element *out, std::int32_t count) {
  std::memcpy(out, in, sizeof(element) * count);
}
