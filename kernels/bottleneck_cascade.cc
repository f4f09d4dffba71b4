// A 1 x 1 convolution of a bottleneck block on two cores: each takes half of the channels in, one puts
// its sums on the cascade, the other adds its own and writes the results. One call makes the group
// `group` of eight channels out, with weights [groups of the call][C in of a half][8 in][8 out]; the
// results are groups `group + (channels out / 8 / parts) * part` of out. bottleneck.h says how they are
// rounded. `halves` is 2; the first pixel is not looked at: calls take whole lines.
//   bnB_1_conv2dk1_i8_ui8_partial_width_put_new(in, weights, width, channels in, channels out, halves,
//     part, first pixel, group): the first half of the channels of int8
//   bnB_1_conv2dk1_i8_ui8_partial_width_get_new(in, weights, out, width, channels in, channels out,
//     scale, halves, parts, part, first pixel, group): the second half
//   bnB_1_conv2dk1_ui8_ui8_input_split_partial_width_put_new(as the first): of uint8, in holds just the
//     half
//   bn_B_2_conv2dk1_ui8_i8_i8_scalar_input_split_partial_width_get_new(in, weights, out, skip, width,
//     channels in, channels out, scale, skip scale, halves, parts, part, first pixel, group): the other
//     half, with int8 results, to which skip is added and the sum scaled once more
#include "bottleneck.h"
#include "stream.h"

namespace {

// The sum over a half of the channels, of one pixel and channel out.
template <class In> struct Half {
  const In *in;
  const i8 *weights;
  int width, groups;
  Half(const In *line, const i8 *all, int width, int channels, int group)
      : in(line), weights(all + group * channels * 8), width(width), groups(channels / 8) {}
  int operator()(int x, int o) const { return products(in + x * 8, weights + o, width, groups, 64); }
};

template <class In> void put(const Half<In> &half) {
  for (int x = 0; x < half.width; ++x) {
    std::int32_t sums[8];
    for (int o = 0; o < 8; ++o) sums[o] = half(x, o);
    put_words(sums);
  }
}

// `result(x, channel of the group, sum)` for the sums over both halves.
template <class In, class Result> void get(const Half<In> &half, Result &&result) {
  for (int x = 0; x < half.width; ++x) {
    std::int32_t sums[8];
    get_words(sums);
    for (int o = 0; o < 8; ++o) result(x, o, sums[o] + half(x, o));
  }
}

int written(int group, int to, int parts, int part) { return group + to / (8 * parts) * part; }

}  // namespace

#define BLOCK(B)                                                                                   \
  void bn##B##_1_conv2dk1_i8_ui8_partial_width_put_new(                                             \
      const i8 *in, const i8 *weights, std::int32_t width, std::int32_t from, std::int32_t,         \
      std::int32_t halves, std::int32_t, std::int32_t, std::int32_t group) {                        \
    put(Half<i8>(in, weights, width, from / halves, group));                                        \
  }                                                                                                 \
  void bn##B##_1_conv2dk1_i8_ui8_partial_width_get_new(                                             \
      const i8 *in, const i8 *weights, ui8 *out, std::int32_t width, std::int32_t from,             \
      std::int32_t to, std::int32_t scale, std::int32_t halves, std::int32_t parts,                 \
      std::int32_t part, std::int32_t, std::int32_t group) {                                        \
    const int own = from / halves;                                                                  \
    out += written(group, to, parts, part) * width * 8;                                             \
    get(Half<i8>(in + own * width, weights, width, own, group), [=](int x, int o, int sum) {        \
      out[x * 8 + o] = static_cast<ui8>(rounded<ui8>(sum, scale));                                  \
    });                                                                                             \
  }                                                                                                 \
  void bn##B##_1_conv2dk1_ui8_ui8_input_split_partial_width_put_new(                                \
      const ui8 *in, const i8 *weights, std::int32_t width, std::int32_t from, std::int32_t,        \
      std::int32_t halves, std::int32_t, std::int32_t, std::int32_t group) {                        \
    put(Half<ui8>(in, weights, width, from / halves, group));                                       \
  }                                                                                                 \
  void bn_##B##_2_conv2dk1_ui8_i8_i8_scalar_input_split_partial_width_get_new(                      \
      const ui8 *in, const i8 *weights, i8 *out, const i8 *skip, std::int32_t width,                \
      std::int32_t from, std::int32_t to, std::int32_t scale, std::int32_t skip_scale,              \
      std::int32_t halves, std::int32_t parts, std::int32_t part, std::int32_t,                     \
      std::int32_t group) {                                                                         \
    const int first = written(group, to, parts, part) * width * 8;                                  \
    get(Half<ui8>(in, weights, width, from / halves, group), [=](int x, int o, int sum) {           \
      const int at = first + x * 8 + o, added = rounded<i8>(sum, scale) + skip[at];                 \
      out[at] = static_cast<i8>(rounded<i8>(added, skip_scale));                                    \
    });                                                                                             \
  }

extern "C" {
BLOCK(13)
BLOCK(14)
}
