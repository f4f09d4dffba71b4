// What convolutions of int8 weights have in common: how results are limited, and sums over channels
// that come in groups of eight, as conv2d.cc says.
#pragma once
#include <aie_api/aie.hpp>

namespace {

using i8 = std::int8_t;
using ui8 = std::uint8_t;

template <class Out> struct Range;
template <> struct Range<i8> { static constexpr int least = -128, most = 127; };
template <> struct Range<ui8> { static constexpr int least = 0, most = 255; };

template <class Out> int limited(int value) {
  return value < Range<Out>::least ? Range<Out>::least
         : value > Range<Out>::most ? Range<Out>::most
                                    : value;
}

// One pixel's products, over `groups` groups of channels; weights of the next group `step` further.
template <class In> int products(const In *in, const i8 *weights, int width, int groups, int step) {
  int sum = 0;
  for (int g = 0; g < groups; ++g, in += width * 8, weights += step)
    for (int i = 0; i < 8; ++i) sum += in[i] * weights[i * 8];
  return sum;
}

// Calls f(group, pixel, channel of the group) for every element of a line of results.
template <class Element> void each(int channels, int width, Element &&f) {
  for (int group = 0; group < channels / 8; ++group)
    for (int x = 0; x < width; ++x)
      for (int o = 0; o < 8; ++o) f(group, x, o);
}

}  // namespace
