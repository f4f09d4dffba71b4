// Functions the array takes from tables of bfloat16, computed in float and rounded.
#pragma once
#include "aie_api/aie.hpp"

namespace iron {
template <class F> inline v16bfloat16 mapped(const v16bfloat16 &v, F f) {
  return aie::host::each<bfloat16, 16>([&](unsigned i) { return bfloat16(f((float)v.data[i])); });
}
}  // namespace iron

inline v16accfloat getExpBf16(v16bfloat16 x) {
  v16accfloat out;
  for (unsigned i = 0; i < 16; i++) out.data[i] = std::exp((float)x.data[i]);
  return out;
}
inline bfloat16 getInvBf16(float x) { return bfloat16(1.0f / x); }
inline v16bfloat16 getTanhBf16(v16bfloat16 x) {
  return iron::mapped(x, [](float f) { return std::tanh(f); });
}
inline v16bfloat16 getRsqrtBf16(v16bfloat16 x) {
  return iron::mapped(x, [](float f) { return 1.0f / std::sqrt(f); });
}
inline v16bfloat16 getSqrtBf16(v16bfloat16 x) {
  return iron::mapped(x, [](float f) { return std::sqrt(f); });
}
