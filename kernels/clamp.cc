// out[i] = in[i] limited to [low, high].
#include <cstdint>

extern "C" void clamp(const std::int32_t *in, std::int32_t *out, std::int32_t low,
                      std::int32_t high, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i)
    out[i] = in[i] < low ? low : in[i] > high ? high : in[i];
}
