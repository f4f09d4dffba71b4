// Kernels of test_aie_api.py: one small function for each part of the AIE API, integers.
#include <aie_api/aie.hpp>

IRON_IMAGE

using namespace aie;
using i8 = vector<int8, 32>;
using i16 = vector<int16, 32>;
using u8 = vector<uint8, 32>;
using i32 = vector<int32, 16>;

// Two inputs of 32 int16, one output; what a case does is in its name.
#define BINARY(NAME, ...)                                                      \
  extern "C" void NAME(const int16 *x, const int16 *y, int16 *z) {             \
    i16 a = load_v<32>(x), b = load_v<32>(y);                                  \
    store_v(z, __VA_ARGS__);                                                       \
  }
BINARY(t_add, add(a, b))
BINARY(t_add_scalar, add(a, (int16)1234))
BINARY(t_scalar_sub, sub((int16)1000, b))
BINARY(t_sub, sub(a, b))
BINARY(t_max, max(a, b))
BINARY(t_min, min(a, b))
BINARY(t_maxdiff, maxdiff(a, b))
BINARY(t_abs, abs(a))
BINARY(t_neg, neg(a))
BINARY(t_and, bit_and(a, b))
BINARY(t_or, bit_or(a, b))
BINARY(t_xor, bit_xor(a, b))
BINARY(t_not, bit_not(a))
BINARY(t_saturating_add, saturating_add(a, b))
BINARY(t_saturating_sub, saturating_sub(a, b))
BINARY(t_clamp, clamp(a, (int16)-500, (int16)700))
BINARY(t_logical_downshift, logical_downshift(a, 3))
BINARY(t_select, select(a, b, lt(a, b)))
BINARY(t_select_scalar, select(a, (int16)7, ge(a, (int16)0) & ~eq(a, b)))
BINARY(t_reverse, reverse(a))
BINARY(t_transpose, transpose(a, 4, 8))
BINARY(t_up_rotate, shuffle_up_rotate(a, 5))
BINARY(t_down_rotate, shuffle_down_rotate(a, 5))
BINARY(t_up_replicate, shuffle_up_replicate(a, 3))
BINARY(t_down_replicate, shuffle_down_replicate(a, 3))
BINARY(t_up_fill, shuffle_up_fill(a, b, 7))
BINARY(t_down_fill, shuffle_down_fill(a, b, 7))
BINARY(t_filter_even, concat(filter_even(a), filter_odd(a)))
BINARY(t_filter_even_4, concat(filter_even(a, 4), filter_odd(a, 4)))
BINARY(t_zip, interleave_zip(a, b, 2).first)
BINARY(t_zip_high, interleave_zip(a, b, 2).second)
BINARY(t_unzip, interleave_unzip(a, b, 4).first)
BINARY(t_unzip_high, interleave_unzip(a, b, 4).second)
BINARY(t_shift_bytes, shift_bytes(a, b, 6))
BINARY(t_shuffle, shuffle(a, b, T16_32x2_lo))
BINARY(t_shuffle_high, shuffle(a, b, T16_2x32_hi))
BINARY(t_insert, concat(b.extract<8>(3), a.extract<8>(1)).grow<32>(1).insert(0, a.extract<16>(1)))
BINARY(t_grow_replicate, a.extract<8>(2).grow_replicate<32>())
BINARY(t_push, ([&] { auto c = a; c.push(42); c.set(43, 31); c[1] = c.get(2); return c; }()))
BINARY(t_iota, iota<int16, 32>(-3, 5))
BINARY(t_broadcast, broadcast<int16, 32>(x[3]))
BINARY(t_unaligned, load_unaligned_v<32>(y - 3))
BINARY(t_max_cmp, select(a, max_cmp(a, b).first, max_cmp(a, b).second))

extern "C" void t_cast_pack(const int16 *x, int8 *packed, int32 *wide, int32 *words, int mode) {
  set_saturation((saturation_mode)mode);
  i16 a = load_v<32>(x);
  store_v(packed, a.pack());
  store_v(wide, a.extract<16>(0).unpack());
  store_v(words, a.cast_to<int32>());
  set_saturation(saturation_mode::none);
}

// acc32 and acc64 to elements of 8, 16 and 32 bits, signed and not.
extern "C" void t_srs(const int32 *x, int shift, int rounding, int saturation, int8 *b, uint8 *ub,
                      int16 *h, uint16 *uh, int32 *w) {
  set_rounding((rounding_mode)rounding);
  set_saturation((saturation_mode)saturation);
  i32 a = load_v<16>(x);
  accum<acc32, 16> narrow(a);
  accum<acc64, 16> wide(a, 4);
  store_v(b, narrow.to_vector<int8>(shift));
  store_v(ub, narrow.to_vector<uint8>(shift));
  store_v(h, narrow.to_vector<int16>(shift));
  store_v(uh, narrow.to_vector<uint16>(shift));
  store_v(w, wide.to_vector<int32>(shift));
  set_rounding(rounding_mode::floor);
  set_saturation(saturation_mode::none);
}

extern "C" void t_shifts(const int16 *x, int up, int down, int rounding, int16 *z, int16 *w) {
  tile::current().set_rounding((rounding_mode)rounding);
  store_v(z, upshift(load_v<32>(x), up));
  store_v(w, downshift(load_v<32>(x), down));
  swap_rounding(rounding_mode::floor);
}

// Products: default accumulators, mac, msc, negmul, squares.
extern "C" void t_products(const int16 *x, const int16 *y, int32 *out) {
  i16 a = load_v<32>(x), b = load_v<32>(y);
  accum<acc32, 32> c = mul(a, b);
  static_assert(std::is_same_v<decltype(c)::value_type, int32_t>);
  static_assert(std::is_same_v<decltype(mul(i32(), i16().extract<16>(0)))::value_type, int64_t>);
  c = mac(c, a, (int16)3);
  c = msc(c, b, b);
  c = add(c, b);
  c = sub(c, mul_square(a));
  c = add(c, negmul((int16)5, b));
  c = neg(c);
  c = mac_square(c, b);
  store_v(out, c.to_vector<int32>());
}
extern "C" void t_wrap(const int32 *x, int32 *low, int32 *high) {
  i32 a = load_v<16>(x);
  auto c = mul(a, a);
  store_v(low, c.to_vector<int32>());
  store_v(high, c.to_vector<int32>(32));
}
extern "C" void t_accumulate(const int16 *x, const int16 *y, int32 *out) {
  vector<int16, 16> a = load_v<16>(x), b = load_v<16>(x + 16), k = load_v<16>(y);
  auto c = accumulate<16>(k, 2, a, b);
  store_v(out, accumulate<16>(c, k, 7, b, a, b).to_vector<int32>());
}
extern "C" void t_sliding(const int16 *x, const int16 *y, int32 *one, int32 *two, int32 *ops) {
  i16 data = load_v<32>(x);
  vector<int16, 16> k = load_v<16>(y);
  auto c = sliding_mul<16, 4>(k, 1, data, 3);
  store_v(one, c.to_vector<int32>());
  c = sliding_mac<16, 4, 2, 2, 1>(c, k, 0, data, -2);
  store_v(two, c.to_vector<int32>());
  using S = sliding_mul_xy_ops<16, 8, 1, 2, int16, int16>;
  store_v(ops, S::negmul(k, 0, data, 0).to_vector<int32>());
}
extern "C" void t_mmul(const int8 *a, const int8 *b, const int16 *c, const int16 *d, int32 *e,
                       int32 *f) {
  mmul<4, 8, 8, int8, int8> m;
  m.mul(load_v<32>(a), load_v<64>(b));
  m.mac(load_v<32>(a + 32), load_v<64>(b + 64));
  store_v(e, m.to_vector<int32>(1));
  mmul<4, 4, 4, int16, int16, accauto> n(load_v<16>(e));
  n.mac(load_v<16>(c), load_v<16>(d));
  store_v(f, n.to_vector<int32>());
}
extern "C" void t_reduce(const int16 *x, const int8 *y, int32 *out) {
  i16 a = load_v<32>(x);
  out[0] = reduce_add(a);
  out[1] = reduce_max(a);
  out[2] = reduce_min(a);
  out[3] = reduce_add(load_v<32>(y));
  auto v = reduce_add_v(a, neg(a));
  out[4] = v[0];
  out[5] = v[1];
}
extern "C" void t_mask(const int16 *x, const int16 *y, uint32 *out) {
  i16 a = load_v<32>(x), b = load_v<32>(y);
  out[0] = lt(a, b).to_uint32();
  out[1] = (ge(a, b) | eq(a, b)).to_uint32();
  mask<32> m = neq(a, (int16)0) ^ mask<32>::from_uint32(0xf0f0f0f0u);
  out[2] = m.to_uint32();
  out[3] = m.count();
  out[4] = mask<32>::from_uint32(0x00ff0100u).clz();
  out[5] = mask<32>::from_uint32(0x00ff0100u).ctz();
  out[6] = (uint32)mask<64>::from_uint64(0x123456789abcdefull).extract<32>(1).to_uint32();
  out[7] = (m << 3).to_uint32();
}
extern "C" void t_iterate(const int16 *x, int16 *z, int n) {
  auto from = cbegin_vector<16>(x);
  auto ring = cbegin_vector<16>(x);
  auto to = begin_restrict_vector<16>(z);
  (void)ring;
  auto around = begin_vector_circular<16, 32>(const_cast<int16 *>(x));
  for (int i = 0; i < n; i++) *to++ = add(*from++, *around++);
}
extern "C" void t_lut(const uint8 *keys, const uint16 *table, uint16 *out) {
  lut<4, uint16, uint16> t(256, table, table);
  parallel_lookup<uint8, decltype(t), lut_oor_policy::truncate> lookup(t, 0);
  store_v(out, lookup.fetch(load_v<16>(keys)));
}
extern "C" void t_linear(const int16 *x, const int16 *pairs, int elements, int32 *out) {
  lut<4, int16, int16> t(elements, pairs, pairs);
  linear_approx<int16, decltype(t)> line(t, 4, elements / 2, 2);
  store_v(out, line.compute(load_v<16>(x)).to_vector<int32>());
}
// The modes of one image are that image's.
extern "C" int t_modes() {
  static_assert(vector<int8>::size() == 64 && vector<int32>::bits() == 512);
  return (int)get_rounding() * 16 + (int)get_saturation();
}
