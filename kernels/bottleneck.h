// Results of bottleneck blocks: sums shifted right by a scale, rounded to the nearest, halves to even,
// and limited to what the result holds. Channels and weights lie as conv2d.cc says.
#pragma once
#include "conv.h"

namespace {

template <class Out> int rounded(int sum, int scale) {
  if (scale <= 0) return limited<Out>(sum);
  const int half = 1 << (scale - 1), whole = sum >> scale, rest = sum - whole * 2 * half;
  return limited<Out>(whole + (rest > half || (rest == half && whole % 2 != 0)));
}

}  // namespace
