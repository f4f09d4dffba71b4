// aie::sliding_mul: a filter moved along data.
//
//   out[l] = sum over p of  coeff[start + p * CoeffStep] * data[start + l * StepY + p * StepX]
//
// Indices go around at the end of either vector.
#pragma once
#include "arithmetic.hpp"

namespace aie {

template <unsigned Lanes, unsigned Points, int CoeffStep, int StepX, int StepY, class C, class D,
          class Tag = accauto>
struct sliding_mul_ops {
  static constexpr unsigned lanes = Lanes, points = Points;
  using accum_tag = host::product_t<C, D, Tag>;
  using accum_type = accum<accum_tag, Lanes>;

  template <class VC, class VD>
  static accum_type mul(const VC &coeff, unsigned coeff_start, const VD &data, int data_start) {
    return mac(accum_type(), coeff, coeff_start, data, data_start);
  }
  template <class VC, class VD>
  static accum_type negmul(const VC &coeff, unsigned coeff_start, const VD &data, int data_start) {
    return msc(accum_type(), coeff, coeff_start, data, data_start);
  }
  template <class VC, class VD>
  static accum_type mac(accum_type acc, const VC &coeff, unsigned coeff_start, const VD &data,
                        int data_start) {
    each(coeff, coeff_start, data, data_start,
         [&](unsigned l, auto p) { acc.data[l] = host::plus(acc.data[l], p); });
    return acc;
  }
  template <class VC, class VD>
  static accum_type msc(accum_type acc, const VC &coeff, unsigned coeff_start, const VD &data,
                        int data_start) {
    each(coeff, coeff_start, data, data_start,
         [&](unsigned l, auto p) { acc.data[l] = host::minus(acc.data[l], p); });
    return acc;
  }

 private:
  template <class VC, class VD, class F>
  static void each(const VC &coeff, int c, const VD &data, int d, F f) {
    // Lengths are powers of two, so the mask goes around for negative indices, too.
    constexpr int in_coeff = VC::size() - 1, in_data = VD::size() - 1;
    for (unsigned l = 0; l < Lanes; l++)
      for (unsigned p = 0; p < Points; p++)
        f(l, host::product<accum_tag>(
                 coeff.data[(c + (int)p * CoeffStep) & in_coeff],
                 data.data[(d + (int)l * StepY + (int)p * StepX) & in_data]));
  }
};
template <unsigned Lanes, unsigned Points, int CoeffStep, int StepX, class C, class D,
          class Tag = accauto>
using sliding_mul_x_ops = sliding_mul_ops<Lanes, Points, CoeffStep, StepX, 1, C, D, Tag>;
template <unsigned Lanes, unsigned Points, int CoeffStep, int StepY, class C, class D,
          class Tag = accauto>
using sliding_mul_y_ops = sliding_mul_ops<Lanes, Points, CoeffStep, 1, StepY, C, D, Tag>;
template <unsigned Lanes, unsigned Points, int CoeffStep, int StepXY, class C, class D,
          class Tag = accauto>
using sliding_mul_xy_ops = sliding_mul_ops<Lanes, Points, CoeffStep, StepXY, StepXY, C, D, Tag>;

#define IRON_SLIDING(NAME, OP)                                                                   \
  template <unsigned Lanes, unsigned Points, int CoeffStep = 1, int StepX = 1,                   \
            int StepY = StepX, class Tag = accauto, class C, unsigned NC, class D, unsigned ND>  \
  auto NAME(const vector<C, NC> &coeff, unsigned coeff_start, const vector<D, ND> &data,         \
            int data_start = 0) {                                                                \
    return sliding_mul_ops<Lanes, Points, CoeffStep, StepX, StepY, C, D, Tag>::OP(               \
        coeff, coeff_start, data, data_start);                                                   \
  }
IRON_SLIDING(sliding_mul, mul)
IRON_SLIDING(sliding_negmul, negmul)
#undef IRON_SLIDING
#define IRON_SLIDING(NAME, OP)                                                                   \
  template <unsigned Lanes, unsigned Points, int CoeffStep = 1, int StepX = 1,                   \
            int StepY = StepX, class Tag, class C, unsigned NC, class D, unsigned ND>            \
  accum<Tag, Lanes> NAME(const accum<Tag, Lanes> &acc, const vector<C, NC> &coeff,               \
                         unsigned coeff_start, const vector<D, ND> &data, int data_start = 0) {  \
    return sliding_mul_ops<Lanes, Points, CoeffStep, StepX, StepY, C, D, Tag>::OP(               \
        acc, coeff, coeff_start, data, data_start);                                              \
  }
IRON_SLIDING(sliding_mac, mac)
IRON_SLIDING(sliding_msc, msc)
#undef IRON_SLIDING

}  // namespace aie
