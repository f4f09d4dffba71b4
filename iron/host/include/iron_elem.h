// bfloat16 and IEEE half as one class each, shared by core bodies, kernels and the host's aie_api.
// Plain C++17, so that every supported compiler (g++ 12 has neither type in C++) gives the same
// bits: storage of 16 bits, arithmetic in float, round to nearest even on the way back.
#pragma once
#include <cstdint>
#include <cstring>

namespace iron {

inline uint32_t bits_of(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}

inline float float_of(uint32_t u) {
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}

struct bf16 {
  uint16_t bits;

  bf16() = default;
  bf16(float f) : bits(round(bits_of(f))) {}
  bf16(double d) : bf16((float)d) {}
  bf16(int i) : bf16((float)i) {}
  operator float() const { return float_of((uint32_t)bits << 16); }

  static uint16_t round(uint32_t u) {
    if ((u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((u >> 16) | 0x40u);  // keep it a NaN
    return (uint16_t)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
};

struct f16 {
  uint16_t bits;

  f16() = default;
  f16(float f) : bits(round(bits_of(f))) {}
  f16(double d) : f16((float)d) {}
  f16(int i) : f16((float)i) {}
  operator float() const {
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, rest = bits & 0x7fffu;
    if (rest >= 0x7c00u) return float_of(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest >= 0x0400u) return float_of(sign | ((rest << 13) + 0x38000000u));
    float tiny = (float)rest * 0x1p-24f;  // subnormal: exact in float
    return sign ? -tiny : tiny;
  }

  static uint16_t round(uint32_t u) {
    uint32_t sign = (u >> 16) & 0x8000u, m = u & 0x7fffffffu;
    if (m > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
    if (m >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);  // rounds to infinity
    if (m < 0x38800000u) {  // subnormal: adding 0.5 lets the FPU round at the right place
      uint32_t t = bits_of(float_of(m) + 0.5f);
      return (uint16_t)(sign | (t - 0x3f000000u));
    }
    return (uint16_t)(sign | ((m - 0x38000000u + 0xfffu + ((m >> 13) & 1u)) >> 13));
  }
};

#define IRON_COMPOUND(T)                                              \
  inline T &operator+=(T &a, float b) { return a = T((float)a + b); } \
  inline T &operator-=(T &a, float b) { return a = T((float)a - b); } \
  inline T &operator*=(T &a, float b) { return a = T((float)a * b); } \
  inline T &operator/=(T &a, float b) { return a = T((float)a / b); }
IRON_COMPOUND(bf16)
IRON_COMPOUND(f16)
#undef IRON_COMPOUND

static_assert(sizeof(bf16) == 2 && sizeof(f16) == 2, "16-bit floats are two bytes in memory");

}  // namespace iron
