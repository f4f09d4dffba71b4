// Element types, accumulator tags and the rounding and saturation modes of the core.
//
// Owns how a number of an accumulator becomes an element (the shift-round-saturate step) and how
// float becomes bfloat16. Semantics: AIE API reference, "rounding_mode" and "saturation_mode".
#pragma once
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "../iron_elem.h"

using int8 = int8_t;
using uint8 = uint8_t;
using int16 = int16_t;
using uint16 = uint16_t;
using int32 = int32_t;
using uint32 = uint32_t;
using int64 = int64_t;
using uint64 = uint64_t;
using bfloat16 = iron::bf16;

template <> class std::numeric_limits<iron::bf16> {
  static iron::bf16 bits(uint16_t b) {
    iron::bf16 x;
    x.bits = b;
    return x;
  }

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false;
  static constexpr bool is_exact = false, has_infinity = true, has_quiet_NaN = true;
  static constexpr int radix = 2, digits = 8, min_exponent = -125, max_exponent = 128;
  static iron::bf16 min() { return bits(0x0080); }
  static iron::bf16 max() { return bits(0x7f7f); }
  static iron::bf16 lowest() { return bits(0xff7f); }
  static iron::bf16 epsilon() { return bits(0x3c00); }
  static iron::bf16 infinity() { return bits(0x7f80); }
  static iron::bf16 quiet_NaN() { return bits(0x7fc0); }
  static iron::bf16 denorm_min() { return bits(0x0001); }
};

struct bfp16ebs8;
struct bfp16ebs16;

// Tags: at least so many bits. Up to 32 are held in 32, up to 64 in 64, as on AIE2 and AIE2P.
struct acc16 {};
struct acc24 {};
struct acc32 {};
struct acc40 {};
struct acc48 {};
struct acc56 {};
struct acc64 {};
struct accfloat {};
struct accauto {};

namespace aie {

inline constexpr unsigned vector_decl_align = 32;
inline constexpr unsigned vector_ldst_align = 32;

enum class saturation_mode : unsigned { none = 0, truncate = 1, saturate = 1, symmetric = 3 };

enum class rounding_mode : unsigned {
  floor = 0,            // towards negative infinity
  ceil = 1,             // towards positive infinity
  symmetric_floor = 2,  // towards zero
  symmetric_ceil = 3,   // away from zero
  negative_inf = 8,     // these: to nearest, and a half goes ...
  positive_inf = 9,
  symmetric_zero = 10,
  symmetric_inf = 11,
  conv_even = 12,
  conv_odd = 13
};

namespace host {

// The mode registers, as they are after reset. One per image, so one per core: hidden, because an
// inline variable of default visibility is one for the whole process under g++ and ELF.
struct Modes {
  rounding_mode rounding = rounding_mode::floor;
  saturation_mode saturation = saturation_mode::none;
};
__attribute__((visibility("hidden"))) inline Modes modes;

template <class T> inline constexpr bool is_bf16 = std::is_same_v<T, bfloat16>;
template <class T> inline constexpr bool is_real = is_bf16<T> || std::is_same_v<T, float>;
template <class T>
inline constexpr bool is_element = is_real<T> || (std::is_integral_v<T> && !std::is_same_v<T, bool>);

// The type numbers of T are computed in.
template <class T> struct Compute {
  using type = T;
};
template <> struct Compute<bfloat16> {
  using type = float;
};
template <class T> using compute_t = typename Compute<T>::type;

template <class Tag> struct Storage;
template <> struct Storage<acc16> { using type = int32_t; };
template <> struct Storage<acc24> { using type = int32_t; };
template <> struct Storage<acc32> { using type = int32_t; };
template <> struct Storage<acc40> { using type = int64_t; };
template <> struct Storage<acc48> { using type = int64_t; };
template <> struct Storage<acc56> { using type = int64_t; };
template <> struct Storage<acc64> { using type = int64_t; };
template <> struct Storage<accfloat> { using type = float; };
template <class Tag> using storage_t = typename Storage<Tag>::type;

template <class T, class = void> struct IsTag : std::false_type {};
template <class T> struct IsTag<T, std::void_t<typename Storage<T>::type>> : std::true_type {};

// The accumulator of a product: 32 bits up to 16 x 16, 64 beyond; float for reals.
template <class A, class B> struct Product {
  static constexpr bool real = is_real<A> || is_real<B>;
  static constexpr bool wide = sizeof(A) + sizeof(B) > 4;
  using type = std::conditional_t<real, accfloat, std::conditional_t<wide, acc64, acc32>>;
};
template <class A, class B, class Tag = accauto>
using product_t =
    std::conditional_t<std::is_same_v<Tag, accauto>, typename Product<A, B>::type, Tag>;

// Does a number with this remainder go up by one, given what is left below it? `low` is compared
// with a half: -1 below, 0 a half, 1 above; `any`: something is left at all.
inline bool goes_up(rounding_mode mode, bool negative, bool odd, bool any, int low) {
  switch (mode) {
    case rounding_mode::floor: return false;
    case rounding_mode::ceil: return any;
    case rounding_mode::symmetric_floor: return any && negative;
    case rounding_mode::symmetric_ceil: return any && !negative;
    case rounding_mode::negative_inf: return low > 0;
    case rounding_mode::positive_inf: return low >= 0;
    case rounding_mode::symmetric_zero: return low > 0 || (low == 0 && negative);
    case rounding_mode::symmetric_inf: return low > 0 || (low == 0 && !negative);
    case rounding_mode::conv_even: return low > 0 || (low == 0 && odd);
    case rounding_mode::conv_odd: return low > 0 || (low == 0 && !odd);
  }
  return false;
}

inline int64_t round_shift(int64_t value, int shift, rounding_mode mode) {
  if (shift <= 0) return (int64_t)((uint64_t)value << -shift);
  if (shift > 62) shift = 62;
  int64_t down = value >> shift;
  if (mode == rounding_mode::floor) return down;
  int64_t left = value - (int64_t)((uint64_t)down << shift), half = (int64_t)1 << (shift - 1);
  return down + goes_up(mode, value < 0, down & 1, left != 0, left < half ? -1 : left > half);
}

template <class T> T saturated(int64_t value, saturation_mode mode) {
  if (mode == saturation_mode::none) return (T)value;
  using L = std::numeric_limits<T>;
  if constexpr (sizeof(T) == 8) return (T)value;
  int64_t low = (int64_t)L::lowest(), high = (int64_t)L::max();
  if (mode == saturation_mode::symmetric && std::is_signed_v<T>) low = -high;
  return (T)(value < low ? low : value > high ? high : value);
}

// float to bfloat16 in the mode of the core.
inline bfloat16 narrowed(float f, rounding_mode mode) {
  uint32_t u = iron::bits_of(f);
  bfloat16 out;
  uint32_t left = u & 0xffffu, magnitude = u & 0x7fffffffu;
  out.bits = (uint16_t)(u >> 16);
  if (magnitude >= 0x7f800000u || left == 0) {
    if (magnitude > 0x7f800000u) out.bits |= 0x40u;  // keep it a NaN
    return out;
  }
  bool negative = u >> 31, odd = out.bits & 1;
  // The bits hold a magnitude: for a negative number its next step is down.
  bool up;
  if (!negative) {
    up = goes_up(mode, false, odd, true, left < 0x8000u ? -1 : left > 0x8000u);
  } else {
    // What is left above the next number below.
    up = !goes_up(mode, true, !odd, true, left > 0x8000u ? -1 : left < 0x8000u);
  }
  if (up) out.bits = (uint16_t)(out.bits + 1);
  return out;
}

// A computed number as an element: what arithmetic on vectors of T gives.
template <class T, class C> T element(C x) {
  if constexpr (is_bf16<T> && std::is_same_v<C, float>)
    return narrowed(x, modes.rounding);
  else
    return (T)x;
}

}  // namespace host

inline void set_rounding(rounding_mode mode) { host::modes.rounding = mode; }
inline void set_saturation(saturation_mode mode) { host::modes.saturation = mode; }
inline rounding_mode get_rounding() { return host::modes.rounding; }
inline saturation_mode get_saturation() { return host::modes.saturation; }
inline rounding_mode swap_rounding(rounding_mode mode) {
  return std::exchange(host::modes.rounding, mode);
}
inline saturation_mode swap_saturation(saturation_mode mode) {
  return std::exchange(host::modes.saturation, mode);
}

// The tile a kernel runs on, as far as results depend on it.
class tile {
 public:
  static tile current() { return {}; }
  void set_rounding(rounding_mode mode) { aie::set_rounding(mode); }
  rounding_mode get_rounding() const { return aie::get_rounding(); }
  void set_saturation(saturation_mode mode) { aie::set_saturation(mode); }
  saturation_mode get_saturation() const { return aie::get_saturation(); }
  // The emulator has no clock: time stands still.
  static uint64_t cycles() { return 0; }
};

// Block floating point is not emulated; the names are there to say so.
#define IRON_BLOCK(NAME)                                                                       \
  template <class T, unsigned N> struct NAME {                                                 \
    static_assert(N == 0, "block floating point (aie::" #NAME ") is not emulated on the host"); \
    template <class... A> explicit NAME(A &&...);                                              \
  };
IRON_BLOCK(block_vector)
IRON_BLOCK(block_vector_input_buffer_stream)
IRON_BLOCK(block_vector_output_buffer_stream)
#undef IRON_BLOCK

}  // namespace aie
