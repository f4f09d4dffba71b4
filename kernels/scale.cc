// out[i] = in[i] * factor[0]. -DBIT_WIDTH=16|32 chooses the element (default 32); the product wraps.
#include <cstdint>

#ifndef BIT_WIDTH
#define BIT_WIDTH 32
#endif

#if BIT_WIDTH == 16
using element = std::int16_t;
#elif BIT_WIDTH == 32
using element = std::int32_t;
#else
#error "BIT_WIDTH is 16 or 32"
#endif

static void scale(const element *in, element *out, const std::int32_t *factor,
                  std::int32_t count) {
  const auto by = static_cast<std::uint32_t>(*factor);
  for (std::int32_t i = 0; i < count; ++i)
    out[i] = static_cast<element>(static_cast<std::uint32_t>(in[i]) * by);
}

extern "C" void vector_scalar_mul_scalar(const element *in, element *out,
                                         const std::int32_t *factor, std::int32_t count) {
  scale(in, out, factor, count);
}

extern "C" void vector_scalar_mul_vector(const element *in, element *out,
                                         const std::int32_t *factor, std::int32_t count) {
  scale(in, out, factor, count);
}
