// Kernels of test_aie_api.py: bfloat16 and float.
#include <aie_api/aie.hpp>
#include <lut_based_ops.h>

using namespace aie;
using b16 = vector<bfloat16, 16>;

extern "C" void r_round(const float *x, int rounding, bfloat16 *z) {
  set_rounding((rounding_mode)rounding);
  accum<accfloat, 16> a(load_v<16>(x));
  store_v(z, a.to_vector<bfloat16>());
  set_rounding(rounding_mode::floor);
}
extern "C" void r_arithmetic(const bfloat16 *x, const bfloat16 *y, bfloat16 *z) {
  set_rounding(rounding_mode::conv_even);
  b16 a = load_v<16>(x), b = load_v<16>(y);
  store_v(z, add(a, b));
  store_v(z + 16, sub(a, b));
  b16 product = mul(a, b);
  store_v(z + 32, product);
  store_v(z + 48, max(a, b));
  store_v(z + 64, abs(a));
  store_v(z + 80, neg(a));
  z[96] = reduce_add(a);
  z[97] = reduce_max(a);
  z[98] = std::numeric_limits<bfloat16>::lowest();
  set_rounding(rounding_mode::floor);
}
extern "C" void r_accumulate(const bfloat16 *x, const bfloat16 *y, float *z) {
  b16 a = load_v<16>(x), b = load_v<16>(y);
  auto c = mul(a, b);
  c = mac(c, a, (bfloat16)2.0f);
  c = msc(c, b, b);
  c = add(c, a);
  vector<float, 16> v = c;
  store_v(z, v);
  z[16] = reduce_add(v);
}
extern "C" void r_mmul(const bfloat16 *a, const bfloat16 *b, float *c) {
  mmul<4, 8, 4, bfloat16, bfloat16, accauto> m(load_v<16>(c));
  m.mac(load_v<32>(a), load_v<32>(b));
  store_v(c, m.to_vector<float>());
}
extern "C" void r_functions(const float *x, float *z, bfloat16 *h) {
  vector<float, 16> v = load_v<16>(x);
  store_v(z, inv(v));
  store_v(z + 16, invsqrt(v));
  store_v(z + 32, aie::sqrt(v));
  store_v(z + 48, div(v, 3.0f));
  z[64] = inv(x[0]);
  store_v(h, exp2<bfloat16>(v));
  store_v(h + 16, tanh<bfloat16>(v));
  b16 b = accum<accfloat, 16>(v).to_vector<bfloat16>();
  store_v(h + 32, getTanhBf16(b));
  store_v(h + 48, to_v16bfloat16(getExpBf16(b)));
}
extern "C" void r_fixed(const float *x, const int32 *w, int shift, int32 *z, int16 *h, float *f) {
  vector<float, 16> v = load_v<16>(x);
  store_v(z, to_fixed<int32>(v, shift));
  store_v(h, to_fixed<int16>(v, shift));
  store_v(f, to_float(load_v<16>(w), shift));
}
