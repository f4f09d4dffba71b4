// aie::mmul: C (M x N) += A (M x K) * B (K x N), all row-major in vectors.
#pragma once
#include "arithmetic.hpp"

namespace aie {

namespace host {
struct Shape {
  unsigned m, k, n;
};
// The shapes AIE2 or AIE2P have, by the elements' bits (AIE API reference, "Matrix
// Multiplication"). A shape that neither has would compile here only.
template <class A, class B> constexpr bool has_shape(unsigned m, unsigned k, unsigned n) {
  constexpr Shape of_8_8[] = {{1, 16, 8}, {2, 8, 8},  {2, 16, 8}, {4, 8, 4},  {4, 8, 8},  {4, 16, 4},
                              {4, 16, 8}, {8, 8, 4},  {8, 8, 8},  {8, 16, 8}, {4, 16, 16}};
  constexpr Shape of_16_8[] = {{2, 8, 8}, {2, 16, 8}, {4, 4, 4}, {4, 4, 8}, {4, 8, 4},
                               {4, 8, 8}, {4, 16, 8}, {8, 4, 4}, {8, 4, 8}};
  constexpr Shape of_8_16[] = {{4, 4, 4}, {4, 4, 8}, {8, 2, 8}};
  constexpr Shape of_16_16[] = {{2, 4, 8}, {2, 8, 8}, {2, 8, 16}, {4, 2, 8}, {4, 4, 4},
                                {4, 4, 8}, {4, 8, 8}, {8, 1, 8},  {8, 2, 8}};
  constexpr Shape of_16_32[] = {{2, 4, 8}, {4, 4, 4}, {4, 4, 8}};
  constexpr Shape of_32_16[] = {{2, 4, 8}, {4, 1, 8}, {4, 2, 4}, {4, 2, 8}, {4, 4, 4}, {4, 4, 8}};
  constexpr Shape of_32_32[] = {{4, 1, 4}, {4, 1, 8}, {4, 2, 4}, {4, 2, 8}, {4, 4, 4},
                                {4, 4, 8}, {4, 8, 4}, {8, 2, 4}, {8, 2, 8}};
  constexpr Shape of_bf16[] = {{4, 8, 4}, {4, 8, 8}, {4, 16, 4}, {4, 16, 8},
                               {8, 1, 8}, {8, 8, 4}, {8, 8, 8}};
  auto among = [&](const auto &list) {
    for (const Shape &s : list)
      if (s.m == m && s.k == k && s.n == n) return true;
    return false;
  };
  if (is_bf16<A> && is_bf16<B>) return among(of_bf16);
  if (is_real<A> != is_real<B>) return false;
  constexpr unsigned a = sizeof(A), b = sizeof(B);
  return a == 1 && b == 1   ? among(of_8_8)
         : a == 2 && b == 1 ? among(of_16_8)
         : a == 1 && b == 2 ? among(of_8_16)
         : a == 2 && b == 2 ? among(of_16_16)
         : a == 2 && b == 4 ? among(of_16_32)
         : a == 4 && b == 2 ? among(of_32_16)
                            : a == 4 && b == 4 && among(of_32_32);
}
}  // namespace host

template <unsigned M_, unsigned K_, unsigned N_, class A, class B = A, class Tag = accauto>
class mmul {
  static_assert(host::is_element<A> && host::is_element<B>,
                "block floating point and complex matrices are not emulated on the host");
  static_assert(host::has_shape<A, B>(M_, K_, N_),
                "neither AIE2 nor AIE2P multiplies matrices of this shape and these elements");

 public:
  static constexpr unsigned M = M_, K = K_, N = N_;
  static constexpr unsigned size_A = M * K, size_B = K * N, size_C = M * N;
  static constexpr unsigned size() { return size_C; }
  using accum_tag = host::product_t<A, B, Tag>;
  using accum_type = accum<accum_tag, size_C>;
  using value_type = typename accum_type::value_type;

  mmul() = default;
  mmul(const accum_type &acc) : acc_(acc) {}
  template <class Tag2> mmul(const accum<Tag2, size_C> &acc) : acc_(acc) {}
  template <class T> mmul(const vector<T, size_C> &v, int shift = 0) : acc_(v, shift) {}

  void mul(const vector<A, size_A> &a, const vector<B, size_B> &b) {
    acc_ = accum_type();
    mac(a, b);
  }
  void mac(const vector<A, size_A> &a, const vector<B, size_B> &b) {
    for (unsigned i = 0; i < M; i++)
      for (unsigned k = 0; k < K; k++) {
        const A x = a.data[i * K + k];
        for (unsigned j = 0; j < N; j++) {
          value_type &c = acc_.data[i * N + j];
          c = host::plus(c, host::product<accum_tag>(x, b.data[k * N + j]));
        }
      }
  }

  accum_type to_accum() const { return acc_; }
  operator accum_type() const { return acc_; }
  template <class T> vector<T, size_C> to_vector(int shift = 0) const {
    return acc_.template to_vector<T>(shift);
  }

 private:
  accum_type acc_;
};

}  // namespace aie
