// Convolutions of int8 weights on lines of an image. Channels come in groups of eight, C = channels /
// 8: a line is [C][width][8], weights of 1 x 1 are [C out][C in][8 in][8 out], of 3 x 3
// [C out][C in][3 rows][3 columns][8 in][8 out]. Sums are shifted right by a scale, rounded half up,
// and limited to what the result holds.
//   conv2dk1_ACT(in, weights, out, width, channels in, channels out, scale)
//   conv2dk3_ACT(above, line, below, weights, out, width, channels in, channels out, 3, 3, where,
//     scale, first channel out): zeros around the image; where is 0 at the top, 2 at the bottom
//   conv2dk1_skip_ACT(first half, second half, weights, out, skip, width, channels in, channels out,
//     scale, skip scale): in is uint8, in two halves of its channels; skip is added
//   conv2dk1_skip_init_ACT(first half, second half, weights, out, skip, width, channels in,
//     channels out, channels skip, scale, skip scale, scale of the skip's convolution): skip goes
//     through a 1 x 1 convolution first, whose weights follow the others
//   conv2dk14_i8(tiles, weights, out, width, channels in, channels out, 14, scale): patches of 14 x 14
//     RGBA pixels, [tiles / 8][pixels / 2][8 tiles][2 pixels][4], to [C out][tiles / 8][8][8 out]
// ACT is i8 or ui8 for int8 or uint8 activations (of the skip, where there is one). Results are uint8;
// with -DINT8_OUT there is just conv2dk1_i8, with int8 results.
#include "conv.h"

namespace {

template <class Out> int scaled(int sum, int scale) {
  return limited<Out>(scale > 0 ? (sum + (1 << (scale - 1))) >> scale : sum);
}

template <class In, class Out>
void conv1(const In *in, const i8 *weights, Out *out, int width, int from, int to, int scale) {
  each(to, width, [&](int group, int x, int o) {
    const int sum = products(in + x * 8, weights + group * from * 8 + o, width, from / 8, 64);
    out[(group * width + x) * 8 + o] = static_cast<Out>(scaled<Out>(sum, scale));
  });
}

#ifndef INT8_OUT

template <class In>
void conv3(const In *above, const In *line, const In *below, const i8 *weights, ui8 *out, int width,
           int from, int to, int columns, int where, int scale, int first) {
  const In *lines[3] = {where == 0 ? nullptr : above, line, where == 2 ? nullptr : below};
  each(to, width, [&](int group, int x, int o) {
    const i8 *own = weights + (group + first / 8) * from * 3 * columns * 8 + o;
    int sum = 0;
    for (int row = 0; row < 3; ++row)
      for (int column = 0; lines[row] && column < columns; ++column) {
        const int at = x - 1 + column;
        if (at >= 0 && at < width)
          sum += products(lines[row] + at * 8, own + (row * 3 + column) * 64, width, from / 8,
                          3 * columns * 64);
      }
    out[(group * width + x) * 8 + o] = static_cast<ui8>(scaled<ui8>(sum, scale));
  });
}

// Both halves of the input; then what `skip(group, pixel, channel)` gives is added.
template <class Skip>
void conv1_skip(const ui8 *in0, const ui8 *in1, const i8 *weights, ui8 *out, int width, int from,
                int to, int scale, int skip_scale, Skip &&skip) {
  const int half = from / 16;
  each(to, width, [&](int group, int x, int o) {
    const i8 *own = weights + group * from * 8 + o;
    const int sum = products(in0 + x * 8, own, width, half, 64) +
                    products(in1 + x * 8, own + half * 64, width, half, 64);
    const int total = scaled<i8>(sum, scale) + skip(group, x, o);
    out[(group * width + x) * 8 + o] = static_cast<ui8>(scaled<ui8>(total, skip_scale));
  });
}

template <class Act>
void add_skip(const ui8 *in0, const ui8 *in1, const i8 *weights, ui8 *out, const Act *skip, int width,
              int from, int to, int scale, int skip_scale) {
  conv1_skip(in0, in1, weights, out, width, from, to, scale, skip_scale, [&](int group, int x, int o) {
    return static_cast<int>(skip[(group * width + x) * 8 + o]);
  });
}

template <class Act>
void add_conv(const ui8 *in0, const ui8 *in1, const i8 *weights, ui8 *out, const Act *skip, int width,
              int from, int to, int skipped, int scale, int skip_scale, int conv_scale) {
  const i8 *own = weights + from * to;
  conv1_skip(in0, in1, weights, out, width, from, to, scale, skip_scale, [&](int group, int x, int o) {
    const int sum = products(skip + x * 8, own + group * skipped * 8 + o, width, skipped / 8, 64);
    return scaled<i8>(sum, conv_scale);
  });
}

#endif

}  // namespace

extern "C" {
#ifdef INT8_OUT
void conv2dk1_i8(const i8 *in, const i8 *weights, i8 *out, std::int32_t width, std::int32_t from,
                 std::int32_t to, std::int32_t scale) {
  conv1(in, weights, out, width, from, to, scale);
}
#else
#define FOR(ACT)                                                                                    \
  void conv2dk1_##ACT(const ACT *in, const i8 *weights, ui8 *out, std::int32_t width,               \
                      std::int32_t from, std::int32_t to, std::int32_t scale) {                     \
    conv1(in, weights, out, width, from, to, scale);                                                \
  }                                                                                                 \
  void conv2dk3_##ACT(const ACT *above, const ACT *line, const ACT *below, const i8 *weights,       \
                      ui8 *out, std::int32_t width, std::int32_t from, std::int32_t to,             \
                      std::int32_t columns, std::int32_t, std::int32_t where, std::int32_t scale,   \
                      std::int32_t first) {                                                         \
    conv3(above, line, below, weights, out, width, from, to, columns, where, scale, first);         \
  }                                                                                                 \
  void conv2dk1_skip_##ACT(const ui8 *in0, const ui8 *in1, const i8 *weights, ui8 *out,             \
                           const ACT *skip, std::int32_t width, std::int32_t from,                  \
                           std::int32_t to, std::int32_t scale, std::int32_t skip_scale) {          \
    add_skip(in0, in1, weights, out, skip, width, from, to, scale, skip_scale);                     \
  }                                                                                                 \
  void conv2dk1_skip_init_##ACT(const ui8 *in0, const ui8 *in1, const i8 *weights, ui8 *out,        \
                                const ACT *skip, std::int32_t width, std::int32_t from,             \
                                std::int32_t to, std::int32_t skipped, std::int32_t scale,          \
                                std::int32_t skip_scale, std::int32_t conv_scale) {                 \
    add_conv(in0, in1, weights, out, skip, width, from, to, skipped, scale, skip_scale,             \
             conv_scale);                                                                           \
  }
FOR(i8)
FOR(ui8)

void conv2dk14_i8(const ui8 *in, const i8 *weights, i8 *out, std::int32_t width, std::int32_t,
                  std::int32_t to, std::int32_t side, std::int32_t scale) {
  const int pairs = side * side / 2, tiles = width / side;
  each(to, tiles, [&](int group, int tile, int o) {
    const i8 *own = weights + group * pairs * 64 + o;
    const ui8 *from = in + (tile / 8) * pairs * 64 + (tile % 8) * 8;
    int sum = 0;
    for (int pair = 0; pair < pairs; ++pair)
      for (int i = 0; i < 8; ++i) sum += from[pair * 64 + i] * own[pair * 64 + i * 8];
    out[(group * tiles + tile) * 8 + o] = static_cast<i8>(scaled<i8>(sum, scale));
  });
}
#endif
}
