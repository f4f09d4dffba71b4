// The compilers' own vector types and functions, as far as kernels mix them with the AIE API.
//
// A native type is the aie::vector or aie::accum of its elements. Functions that take one are found
// by their arguments, so they live with those.
#pragma once
#include "compare.hpp"
#include "reshape.hpp"

#define IRON_NATIVE(T, ELEMENT)                                                      \
  using v128##T = aie::vector<ELEMENT, 128>;                                         \
  using v64##T = aie::vector<ELEMENT, 64>;                                           \
  using v32##T = aie::vector<ELEMENT, 32>;                                           \
  using v16##T = aie::vector<ELEMENT, 16>;                                           \
  using v8##T = aie::vector<ELEMENT, 8>;                                             \
  using v4##T = aie::vector<ELEMENT, 4>;
IRON_NATIVE(int8, int8)
IRON_NATIVE(uint8, uint8)
IRON_NATIVE(int16, int16)
IRON_NATIVE(uint16, uint16)
IRON_NATIVE(int32, int32)
IRON_NATIVE(uint32, uint32)
IRON_NATIVE(bfloat16, bfloat16)
IRON_NATIVE(float, float)
#undef IRON_NATIVE
#define IRON_NATIVE(T)                       \
  using v32##T = aie::accum<T, 32>;          \
  using v16##T = aie::accum<T, 16>;          \
  using v8##T = aie::accum<T, 8>;            \
  inline v16##T undef_v16##T() { return {}; }
IRON_NATIVE(acc32)
IRON_NATIVE(acc64)
IRON_NATIVE(accfloat)
#undef IRON_NATIVE

#define IRON_UNDEF(V) \
  inline V undef_##V() { return {}; }
IRON_UNDEF(v64int8)
IRON_UNDEF(v64uint8)
IRON_UNDEF(v32int16)
IRON_UNDEF(v32uint16)
IRON_UNDEF(v16int32)
IRON_UNDEF(v32int32)
IRON_UNDEF(v16uint32)
IRON_UNDEF(v32bfloat16)
IRON_UNDEF(v16bfloat16)
IRON_UNDEF(v16float)
#undef IRON_UNDEF

#define IRON_BROADCAST(V, T, N) \
  inline V broadcast_to_##V(T x) { return aie::broadcast<T, N>(x); }
IRON_BROADCAST(v64int8, int8, 64)
IRON_BROADCAST(v64uint8, uint8, 64)
IRON_BROADCAST(v32int16, int16, 32)
IRON_BROADCAST(v32uint16, uint16, 32)
IRON_BROADCAST(v16int32, int32, 16)
IRON_BROADCAST(v16uint32, uint32, 16)
IRON_BROADCAST(v32bfloat16, bfloat16, 32)
IRON_BROADCAST(v16float, float, 16)
#undef IRON_BROADCAST
inline v32bfloat16 broadcast_zero_bfloat16() { return {}; }
inline v16float broadcast_zero_float() { return {}; }
inline v16int32 broadcast_zero_s32() { return {}; }

// The mode registers under their old names.
inline void set_sat() { aie::set_saturation(aie::saturation_mode::saturate); }
inline void set_symsat() { aie::set_saturation(aie::saturation_mode::symmetric); }
inline void clr_sat() { aie::set_saturation(aie::saturation_mode::none); }
inline void set_rnd(unsigned mode) { aie::set_rounding((aie::rounding_mode)mode); }
inline void clr_rnd() { aie::set_rounding(aie::rounding_mode::floor); }
inline constexpr unsigned rnd_floor = 0, rnd_ceil = 1, rnd_sym_floor = 2, rnd_sym_ceil = 3,
                          rnd_neg_inf = 8, rnd_pos_inf = 9, rnd_sym_zero = 10, rnd_sym_inf = 11,
                          rnd_conv_even = 12, rnd_conv_odd = 13;

inline v16bfloat16 to_v16bfloat16(const v16accfloat &a) { return a.to_vector<bfloat16>(); }
inline v32bfloat16 to_v32bfloat16(const v32accfloat &a) { return a.to_vector<bfloat16>(); }

// Modes of `shuffle`: both operands together, or the first alone, are R rows of C elements of so
// many bits, and are transposed; lo and hi are halves of 512 bits.
namespace aie::host {
struct ShuffleMode {
  unsigned bits, rows, columns, half;
};
}  // namespace aie::host
#define IRON_MODE(B, R, C)                                             \
  inline constexpr aie::host::ShuffleMode T##B##_##R##x##C##_lo = {B, R, C, 0}; \
  inline constexpr aie::host::ShuffleMode T##B##_##R##x##C##_hi = {B, R, C, 1};
IRON_MODE(8, 64, 2)
IRON_MODE(16, 32, 2)
IRON_MODE(32, 16, 2)
IRON_MODE(64, 8, 2)
IRON_MODE(128, 4, 2)
IRON_MODE(256, 2, 2)
IRON_MODE(128, 2, 4)
IRON_MODE(64, 2, 8)
IRON_MODE(32, 2, 16)
IRON_MODE(16, 2, 32)
IRON_MODE(8, 2, 64)
IRON_MODE(512, 1, 2)
IRON_MODE(16, 16, 4)
IRON_MODE(16, 4, 16)
IRON_MODE(16, 8, 8)
IRON_MODE(32, 8, 4)
IRON_MODE(32, 4, 8)
#undef IRON_MODE
#define IRON_MODE(B, R, C) \
  inline constexpr aie::host::ShuffleMode T##B##_##R##x##C = {B, R, C, 0};
IRON_MODE(16, 8, 4)
IRON_MODE(16, 4, 8)
IRON_MODE(32, 4, 4)
IRON_MODE(8, 8, 8)
IRON_MODE(8, 16, 4)
IRON_MODE(8, 4, 16)
IRON_MODE(16, 1, 2)
#undef IRON_MODE

namespace aie {

template <class T, unsigned N>
vector<T, N> shuffle(const vector<T, N> &a, const vector<T, N> &b, host::ShuffleMode mode) {
  static_assert(sizeof(T) * N == 64, "shuffle takes vectors of 512 bits");
  unsigned char in[128], out[64];
  std::memcpy(in, a.data, 64);
  std::memcpy(in + 64, b.data, 64);
  unsigned bytes = mode.bits / 8;
  for (unsigned i = 0; i < 64 / bytes; i++) {
    unsigned o = i + mode.half * (64 / bytes);
    unsigned from = o % mode.rows * mode.columns + o / mode.rows;
    std::memcpy(out + i * bytes, in + from * bytes, bytes);
  }
  vector<T, N> result;
  std::memcpy(result.data, out, 64);
  return result;
}
template <class T, unsigned N> vector<T, N> shuffle(const vector<T, N> &a, host::ShuffleMode mode) {
  return shuffle(a, a, mode);
}

// The bytes from `n` on of both, one after the other.
template <class T, unsigned N>
vector<T, N> shift_bytes(const vector<T, N> &a, const vector<T, N> &b, unsigned n) {
  unsigned char both[2 * sizeof a.data];
  std::memcpy(both, a.data, sizeof a.data);
  std::memcpy(both + sizeof a.data, b.data, sizeof b.data);
  vector<T, N> out;
  std::memcpy(out.data, both + n % (sizeof a.data + 1), sizeof out.data);
  return out;
}

template <class T, unsigned N, class E>
vector<T, N> upd_elem(vector<T, N> v, unsigned i, E x) {
  v.data[i] = (T)x;
  return v;
}
template <class T, unsigned N> T ext_elem(const vector<T, N> &v, unsigned i) { return v.data[i]; }
template <class T, unsigned N> T extract_elem(const vector<T, N> &v, unsigned i) {
  return v.data[i];
}
template <class T, unsigned N> vector<T, N> band(const vector<T, N> &a, const vector<T, N> &b) {
  return bit_and(a, b);
}
template <class T, unsigned N> vector<T, N> bor(const vector<T, N> &a, const vector<T, N> &b) {
  return bit_or(a, b);
}
template <class T, unsigned N> vector<T, N> bxor(const vector<T, N> &a, const vector<T, N> &b) {
  return bit_xor(a, b);
}
template <class T, unsigned N> vector<T, N> bneg(const vector<T, N> &a) { return bit_not(a); }

// bfloat16 to 16 bit integers, `shift` bits behind the point, in the even elements of 32.
template <unsigned N> vector<int32, N> bfloat16_to_int(const vector<bfloat16, N> &v, int shift) {
  return host::each<int32, N>([&](unsigned i) {
    float f = std::floor(std::ldexp((float)v.data[i], shift));
    return (int32)(f < -0x1p31f ? -0x1p31f : f > 2147483520.0f ? 2147483520.0f : f);
  });
}

}  // namespace aie

// ---- ports: the cascade carries 512 bits at a time to the next core; streams carry words

namespace aie::host {
inline constexpr int beat = 64;
}
template <class T> inline void put_mcd(const T &value) {
  static_assert(sizeof(T) % aie::host::beat == 0, "the cascade carries 512 bits at a time");
  for (size_t at = 0; at < sizeof(T); at += aie::host::beat)
    iron_api->cascade_put((const char *)&value + at, aie::host::beat);
}
template <class T> inline T get_cascade() {
  static_assert(sizeof(T) % aie::host::beat == 0, "the cascade carries 512 bits at a time");
  T value;
  for (size_t at = 0; at < sizeof(T); at += aie::host::beat)
    iron_api->cascade_get((char *)&value + at, aie::host::beat);
  return value;
}
#define IRON_CASCADE(V) \
  inline V get_scd_##V() { return get_cascade<V>(); }
IRON_CASCADE(v16int32)
IRON_CASCADE(v16uint32)
IRON_CASCADE(v32int16)
IRON_CASCADE(v32uint16)
IRON_CASCADE(v64int8)
IRON_CASCADE(v64uint8)
IRON_CASCADE(v32int32)
IRON_CASCADE(v32bfloat16)
IRON_CASCADE(v16float)
IRON_CASCADE(v16acc32)
IRON_CASCADE(v8acc64)
IRON_CASCADE(v16acc64)
IRON_CASCADE(v16accfloat)
#undef IRON_CASCADE
inline void put_ms(int32_t value, int32_t last = 0) {
  iron_api->stream_put(0, &value, sizeof value, last);
}
inline int32_t get_ss() {
  int32_t value;
  iron_api->stream_get(0, &value, sizeof value);
  return value;
}
inline int32_t get_ss_int() { return get_ss(); }
