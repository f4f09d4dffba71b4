// Kernels of MobileNet's bottleneck blocks on lines of an image. bottleneck.h says how results are
// rounded.
//   conv2dk1_relu_i8_ui8(in, weights, out, width, channels in, channels out, scale): 1 x 1
//   conv2dk1_ui8_i8: the same of uint8 with int8 results
//   conv2dk1_skip_ui8_ACT_i8(in, weights, out, skip, width, channels in, channels out, scale, skip
//     scale): uint8 in; skip, of ACT, is added to the int8 results, and the sum scaled once more
//   conv2dk3_stride2_i8(above, line, below, weights, out, width, channels in, channels out, 3, 3,
//     where, scale, first channel out): every other pixel of a 3 x 3 convolution with zeros around the
//     image; where is 0 at the top, 2 at the bottom
//   conv2dk3_dw_strideN_relu_ui8_ui8(the same): each channel by itself, weights
//     [C][3 rows][3 columns][8]; every pixel (N is 1) or every other (2)
//   bnB_conv2dk3_ui8_out_split(above, line, below, weights, first half, second half, the same): every
//     pixel, the results in two halves of their channels
//   conv2dk1_xy_pool_fused_relu_large_padded_i8_ui8(in, weights, out, width, channels in, channels
//     out, channels held, scale, line, parts, part): 1 x 1 of the channels of a part, and the mean over
//     the pixels of a square image; out holds the sums until the last line. A mean is rounded half
//     up, but to even where its first decimal is 5
//   post_L2_conv2dk1_relu_i16_ui16_pad(in, weights, out, width, channels in, channels in that weights
//     are held for, channels out, scale): uint16 in and out, the results at most 255
#include "bottleneck.h"

namespace {

using ui16 = std::uint16_t;

// Weights are there for `held` channels in, of which the first `from` are used.
template <class Limit, class In, class Out>
void conv1(const In *in, const i8 *weights, Out *out, int width, int from, int held, int to, int scale) {
  each(to, width, [&](int group, int x, int o) {
    const int sum = products(in + x * 8, weights + group * held * 8 + o, width, from / 8, 64);
    out[(group * width + x) * 8 + o] = static_cast<Out>(rounded<Limit>(sum, scale));
  });
}

template <class Act>
void conv1_skip(const ui8 *in, const i8 *weights, i8 *out, const Act *skip, int width, int from, int to,
                int scale, int skip_scale) {
  conv1<i8>(in, weights, out, width, from, from, to, scale);
  for (int i = 0; i < width * to; ++i)
    out[i] = static_cast<i8>(rounded<i8>(out[i] + skip[i], skip_scale));
}

// Three lines, where there are such: `sum(row, column, pixel)` over a window around pixel x.
struct Window {
  int width, columns, where;
  template <class Sum> int operator()(int x, Sum &&sum) const {
    int total = 0;
    for (int row = where == 0; row < (where == 2 ? 2 : 3); ++row)
      for (int column = 0; column < columns; ++column) {
        const int at = x - 1 + column;
        if (at >= 0 && at < width) total += sum(row, column, at);
      }
    return total;
  }
};

// Each channel by itself; `store(group, x, channel, result)` keeps a result.
template <class Store>
void depthwise(const ui8 *const (&lines)[3], const i8 *weights, const Window &window, int channels,
               int stride, int scale, Store &&store) {
  each(channels, window.width / stride, [&](int group, int x, int o) {
    const i8 *own = weights + group * 3 * window.columns * 8 + o;
    const int sum = window(x * stride, [&](int row, int column, int at) {
      return lines[row][(group * window.width + at) * 8 + o] * own[(row * window.columns + column) * 8];
    });
    store(group, x, o, static_cast<ui8>(rounded<ui8>(sum, scale)));
  });
}

void depthwise(const ui8 *const (&lines)[3], const i8 *weights, ui8 *out, const Window &window,
               int channels, int stride, int scale) {
  const int made = window.width / stride;
  depthwise(lines, weights, window, channels, stride, scale, [&](int group, int x, int o, ui8 result) {
    out[(group * made + x) * 8 + o] = result;
  });
}

void depthwise_halves(const ui8 *const (&lines)[3], const i8 *weights, ui8 *first, ui8 *second,
                      const Window &window, int channels, int scale) {
  const int half = channels / 2 / 8;
  depthwise(lines, weights, window, channels, 1, scale, [&](int group, int x, int o, ui8 result) {
    ui8 *out = group < half ? first : second;
    out[(group % half * window.width + x) * 8 + o] = result;
  });
}

int mean(int sum, int count) {
  const float exact = static_cast<float>(sum) / static_cast<float>(count);
  const int whole = static_cast<int>(exact);
  if (static_cast<int>(exact * 10) % 10 == 5) return whole + whole % 2;
  return static_cast<int>(exact + 0.5f);
}

}  // namespace

extern "C" {
void conv2dk1_relu_i8_ui8(const i8 *in, const i8 *weights, ui8 *out, std::int32_t width,
                          std::int32_t from, std::int32_t to, std::int32_t scale) {
  conv1<ui8>(in, weights, out, width, from, from, to, scale);
}
void conv2dk1_ui8_i8(const ui8 *in, const i8 *weights, i8 *out, std::int32_t width, std::int32_t from,
                     std::int32_t to, std::int32_t scale) {
  conv1<i8>(in, weights, out, width, from, from, to, scale);
}
void post_L2_conv2dk1_relu_i16_ui16_pad(const ui16 *in, const i8 *weights, ui16 *out,
                                        std::int32_t width, std::int32_t from, std::int32_t held,
                                        std::int32_t to, std::int32_t scale) {
  conv1<ui8>(in, weights, out, width, from, held, to, scale);
}

#define SKIP(ACT)                                                                                  \
  void conv2dk1_skip_ui8_##ACT##_i8(const ui8 *in, const i8 *weights, i8 *out, const ACT *skip,     \
                                    std::int32_t width, std::int32_t from, std::int32_t to,         \
                                    std::int32_t scale, std::int32_t skip_scale) {                  \
    conv1_skip(in, weights, out, skip, width, from, to, scale, skip_scale);                         \
  }
SKIP(i8)
SKIP(ui8)

void conv2dk3_stride2_i8(const i8 *above, const i8 *line, const i8 *below, const i8 *weights, ui8 *out,
                         std::int32_t width, std::int32_t from, std::int32_t to, std::int32_t columns,
                         std::int32_t, std::int32_t where, std::int32_t scale, std::int32_t first) {
  const i8 *const lines[3] = {above, line, below};
  const Window window{width, columns, where};
  const int made = width / 2, step = 3 * columns * 64;
  each(to, made, [&](int group, int x, int o) {
    const i8 *own = weights + (group + first / 8) * (from / 8) * step + o;
    const int sum = window(2 * x, [&](int row, int column, int at) {
      return products(lines[row] + at * 8, own + (row * columns + column) * 64, width, from / 8, step);
    });
    out[(group * made + x) * 8 + o] = static_cast<ui8>(rounded<ui8>(sum, scale));
  });
}

#define DEPTHWISE(STRIDE)                                                                          \
  void conv2dk3_dw_stride##STRIDE##_relu_ui8_ui8(                                                   \
      const ui8 *above, const ui8 *line, const ui8 *below, const i8 *weights, ui8 *out,             \
      std::int32_t width, std::int32_t, std::int32_t channels, std::int32_t columns, std::int32_t,  \
      std::int32_t where, std::int32_t scale, std::int32_t) {                                       \
    const ui8 *const lines[3] = {above, line, below};                                               \
    depthwise(lines, weights, out, Window{width, columns, where}, channels, STRIDE, scale);         \
  }
DEPTHWISE(1)
DEPTHWISE(2)

#define HALVES(BLOCK)                                                                              \
  void bn##BLOCK##_conv2dk3_ui8_out_split(                                                          \
      const ui8 *above, const ui8 *line, const ui8 *below, const i8 *weights, ui8 *first,           \
      ui8 *second, std::int32_t width, std::int32_t, std::int32_t channels, std::int32_t columns,   \
      std::int32_t, std::int32_t where, std::int32_t scale, std::int32_t) {                         \
    const ui8 *const lines[3] = {above, line, below};                                               \
    depthwise_halves(lines, weights, first, second, Window{width, columns, where}, channels, scale); \
  }
HALVES(13)
HALVES(14)

void conv2dk1_xy_pool_fused_relu_large_padded_i8_ui8(const i8 *in, const i8 *weights, ui16 *out,
                                                     std::int32_t width, std::int32_t from,
                                                     std::int32_t to, std::int32_t held,
                                                     std::int32_t scale, std::int32_t line,
                                                     std::int32_t parts, std::int32_t part) {
  const int own = to / parts;
  each(own, 1, [&](int group, int, int o) {
    ui16 &kept = out[(own / 8 * part + group) * 8 + o];
    int sum = line == 0 ? 0 : kept;
    for (int x = 0; x < width; ++x)
      sum += rounded<ui8>(products(in + x * 8, weights + group * from * 8 + o, width, from / 8, 64), scale);
    kept = static_cast<ui16>(line == width - 1 ? mean(sum, width * width) : sum);
  });
  for (int channel = to; channel < held; ++channel) out[channel] = 0;
}
}
