// Functions of floating point and its conversions, computed in float.
//
// The array approximates most of these with tables; the host gives the float of the C library,
// rounded as the result's type asks. Compare with a tolerance of bfloat16 (2^-7 relative).
#pragma once
#include "accum.hpp"

namespace aie {

#define IRON_FUNCTION(NAME, ...)                                                      \
  inline float NAME(float x) { return __VA_ARGS__; }                                  \
  inline bfloat16 NAME(bfloat16 x) { return bfloat16(NAME((float)x)); }               \
  template <class T, unsigned N> vector<T, N> NAME(const vector<T, N> &v) {           \
    static_assert(host::is_real<T>, "of bfloat16 or float");                          \
    return host::each<T, N>([&](unsigned i) { return host::element<T>(NAME((float)v.data[i])); }); \
  }                                                                                   \
  template <unsigned N> accum<accfloat, N> NAME(const accum<accfloat, N> &v) {        \
    return accum<accfloat, N>(NAME(v.template to_vector<float>()));                   \
  }
IRON_FUNCTION(inv, 1.0f / x)
IRON_FUNCTION(invsqrt, 1.0f / std::sqrt(x))
IRON_FUNCTION(sqrt, std::sqrt(x))
IRON_FUNCTION(sin, std::sin(x))
IRON_FUNCTION(cos, std::cos(x))
#undef IRON_FUNCTION

// The result's element comes first: exp2<bfloat16>(v).
#define IRON_TO(NAME, HOW)                                                            \
  template <class R, class T, unsigned N> vector<R, N> NAME(const vector<T, N> &v) {  \
    static_assert(host::is_real<R> && host::is_real<T>, "of bfloat16 or float");      \
    return host::each<R, N>([&](unsigned i) { return host::element<R>(HOW((float)v.data[i])); }); \
  }                                                                                   \
  template <class R, unsigned N> vector<R, N> NAME(const accum<accfloat, N> &v) {     \
    return NAME<R>(v.template to_vector<float>());                                    \
  }
IRON_TO(exp2, std::exp2)
IRON_TO(tanh, std::tanh)
#undef IRON_TO

template <class T, unsigned N> vector<T, N> div(const vector<T, N> &v, const vector<T, N> &w) {
  static_assert(host::is_real<T>, "of bfloat16 or float");
  return host::each<T, N>(
      [&](unsigned i) { return host::element<T>((float)v.data[i] / (float)w.data[i]); });
}
template <class T, unsigned N, class E, class = std::enable_if_t<host::is_scalar<E>>>
vector<T, N> div(const vector<T, N> &v, E e) {
  return div(v, broadcast<T, N>(e));
}

// ---- fixed point: `shift` bits stand behind the point

namespace host {
inline float scaled(float x, int shift) { return std::ldexp(x, shift); }

// To nearest and even, bfloat16 down; beyond the type, its greatest or smallest.
template <class R, class T> R fixed(T x, int shift) {
  float f = scaled((float)x, shift);
  f = is_bf16<T> ? std::floor(f) : std::nearbyint(f);
  if (f != f) return 0;
  double low = (double)std::numeric_limits<R>::lowest(), high = (double)std::numeric_limits<R>::max();
  return (double)f <= low ? std::numeric_limits<R>::lowest()
         : (double)f >= high ? std::numeric_limits<R>::max() : (R)f;
}
}  // namespace host

template <class R = int32, class T, unsigned N>
vector<R, N> to_fixed(const vector<T, N> &v, int shift = 0) {
  static_assert(host::is_real<T> && std::is_integral_v<R>, "from reals to integers");
  return host::each<R, N>([&](unsigned i) { return host::fixed<R>(v.data[i], shift); });
}
template <class R = int32> R to_fixed(float x, int shift = 0) { return host::fixed<R>(x, shift); }

template <class R = float, class T, unsigned N>
vector<R, N> to_float(const vector<T, N> &v, int shift = 0) {
  static_assert(host::is_real<R>, "to bfloat16 or float");
  return host::each<R, N>(
      [&](unsigned i) { return host::element<R>(host::scaled((float)v.data[i], -shift)); });
}
template <class R = float, class Tag, unsigned N>
vector<R, N> to_float(const accum<Tag, N> &v, int shift = 0) {
  return host::each<R, N>(
      [&](unsigned i) { return host::element<R>(host::scaled((float)v.data[i], -shift)); });
}
template <class R = float> R to_float(int x, int shift = 0) {
  return (R)host::scaled((float)x, -shift);
}

}  // namespace aie
