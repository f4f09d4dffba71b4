// Lines of images. Pixels are BIT_WIDTH bits (8: unsigned, 16 and 32: signed), RGBA ones four bytes.
//   rgba2hueLine, rgba2grayLine, gray2rgbaLine(in, out, width): 8 bits
//   filter2dLine(above, line, below, out, width, kernel): 8 bits, a 3 x 3 kernel of Q3.12, the line
//     continued by its first and last pixel
//   thresholdLine(in, out, width, limit, most, kind), kinds as in OpenCV: 0 binary, 1 inverted,
//     2 cut off, 3 to zero, 4 to zero inverted
//   bitwiseORLine, bitwiseANDLine(a, b, out, width)
//   addWeightedLine(a, b, out, width, alpha, beta, gamma): alpha a + beta b + gamma, alpha and beta of
//     Q1.14, rounded half up
#include <aie_api/aie.hpp>

#ifndef BIT_WIDTH
#define BIT_WIDTH 8
#endif

namespace {

#if BIT_WIDTH == 8
using Pixel = std::uint8_t;
using Limit = std::int16_t;
constexpr std::int64_t LEAST = 0, MOST = 255;
#elif BIT_WIDTH == 16
using Pixel = std::int16_t;
using Limit = std::int16_t;
constexpr std::int64_t LEAST = -32768, MOST = 32767;
#else
using Pixel = std::int32_t;
using Limit = std::int32_t;
constexpr std::int64_t LEAST = -2147483648LL, MOST = 2147483647LL;
#endif

template <class Number> Number between(Number least, Number value, Number most) {
  return value < least ? least : value > most ? most : value;
}

// 0 to 255 for a whole turn, red at 0: 42.5 steps from one to the next of red, yellow, green ...
std::uint8_t hue(int r, int g, int b) {
  const int most = r > g ? (r > b ? r : b) : (g > b ? g : b);
  const int least = r < g ? (r < b ? r : b) : (g < b ? g : b);
  if (most == least) return 0;
  const int twice = most == r   ? 85 * (g - b) / (most - least)
                    : most == g ? 170 + 85 * (b - r) / (most - least)
                                : 340 + 85 * (r - g) / (most - least);
  return static_cast<std::uint8_t>((twice + 1) >> 1);
}

}  // namespace

extern "C" {
void rgba2hueLine(const std::uint8_t *in, std::uint8_t *out, std::int32_t width) {
  for (int i = 0; i < width; ++i, in += 4) out[i] = hue(in[0], in[1], in[2]);
}
void rgba2grayLine(const std::uint8_t *in, std::uint8_t *out, std::int32_t width) {
  // 0.299, 0.587 and 0.114 of ITU-R BT.601, in Q1.15.
  for (int i = 0; i < width; ++i, in += 4)
    out[i] = static_cast<std::uint8_t>((9798 * in[0] + 19235 * in[1] + 3736 * in[2] + 16384) >> 15);
}
void gray2rgbaLine(const std::uint8_t *in, std::uint8_t *out, std::int32_t width) {
  for (int i = 0; i < width; ++i, out += 4) {
    out[0] = out[1] = out[2] = in[i];
    out[3] = 255;
  }
}
void filter2dLine(const std::uint8_t *above, const std::uint8_t *line, const std::uint8_t *below,
                  std::uint8_t *out, std::int32_t width, const std::int16_t *kernel) {
  const std::uint8_t *lines[3] = {above, line, below};
  for (int i = 0; i < width; ++i) {
    std::int32_t total = 1 << 11;
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 3; ++x)
        total += lines[y][between(0, i + x - 1, width - 1)] * kernel[y * 3 + x];
    out[i] = static_cast<std::uint8_t>(between(0, total >> 12, 255));
  }
}
void thresholdLine(const Pixel *in, Pixel *out, std::int32_t width, Limit limit, Limit most,
                   std::int8_t kind) {
  const Pixel edge = static_cast<Pixel>(limit), full = static_cast<Pixel>(most);
  for (int i = 0; i < width; ++i) {
    const bool over = in[i] > edge;
    switch (kind) {
      case 0: out[i] = over ? full : 0; break;
      case 1: out[i] = over ? 0 : full; break;
      case 3: out[i] = over ? in[i] : 0; break;
      case 4: out[i] = over ? 0 : in[i]; break;
      default: out[i] = over ? edge : in[i];
    }
  }
}
void bitwiseORLine(const Pixel *a, const Pixel *b, Pixel *out, std::int32_t width) {
  for (int i = 0; i < width; ++i) out[i] = static_cast<Pixel>(a[i] | b[i]);
}
void bitwiseANDLine(const Pixel *a, const Pixel *b, Pixel *out, std::int32_t width) {
  for (int i = 0; i < width; ++i) out[i] = static_cast<Pixel>(a[i] & b[i]);
}
void addWeightedLine(const Pixel *a, const Pixel *b, Pixel *out, std::int32_t width,
                     std::int16_t alpha, std::int16_t beta, Pixel gamma) {
  for (int i = 0; i < width; ++i) {
    const std::int64_t total = std::int64_t{a[i]} * alpha + std::int64_t{b[i]} * beta;
    out[i] = static_cast<Pixel>(between(LEAST, ((total + (1 << 13)) >> 14) + gamma, MOST));
  }
}
}
