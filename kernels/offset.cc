// data[i] += by, in place.
#include <cstdint>

extern "C" void offset(std::int32_t *data, std::int32_t by, std::int32_t count) {
  for (std::int32_t i = 0; i < count; ++i)
    data[i] += by;
}
