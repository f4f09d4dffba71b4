// Comparisons, selection by a mask, and what is made of all elements of a vector.
#pragma once
#include "arithmetic.hpp"

namespace aie {

#define IRON_COMPARE(NAME, OP)                                                              \
  template <class T, unsigned N>                                                            \
  mask<N> NAME(const vector<T, N> &v, const vector<T, N> &w) {                              \
    using C = host::compute_t<T>;                                                           \
    return mask<N>::of([&](unsigned i) { return (C)v.data[i] OP (C)w.data[i]; });           \
  }                                                                                         \
  template <class T, unsigned N, class E, class = std::enable_if_t<host::is_scalar<E>>>     \
  mask<N> NAME(const vector<T, N> &v, E e) {                                                \
    return NAME(v, broadcast<T, N>(e));                                                     \
  }                                                                                         \
  template <class T, unsigned N, class E, class = std::enable_if_t<host::is_scalar<E>>>     \
  mask<N> NAME(E e, const vector<T, N> &v) {                                                \
    return NAME(broadcast<T, N>(e), v);                                                     \
  }
IRON_COMPARE(eq, ==)
IRON_COMPARE(neq, !=)
IRON_COMPARE(lt, <)
IRON_COMPARE(le, <=)
IRON_COMPARE(gt, >)
IRON_COMPARE(ge, >=)
#undef IRON_COMPARE

// All elements at once.
template <class T, unsigned N> bool equal(const vector<T, N> &v, const vector<T, N> &w) {
  return eq(v, w).full();
}
template <class T, unsigned N> bool not_equal(const vector<T, N> &v, const vector<T, N> &w) {
  return !equal(v, w);
}

// The second where the mask is set, else the first; either may be one number for all.
template <class T, unsigned N>
vector<T, N> select(const vector<T, N> &v, const vector<T, N> &w, const mask<N> &m) {
  return host::each<T, N>([&](unsigned i) { return m.test(i) ? w.data[i] : v.data[i]; });
}
template <class T, unsigned N, class E, class = std::enable_if_t<host::is_scalar<E>>>
vector<T, N> select(E e, const vector<T, N> &w, const mask<N> &m) {
  return select(broadcast<T, N>(e), w, m);
}
template <class T, unsigned N, class E, class = std::enable_if_t<host::is_scalar<E>>>
vector<T, N> select(const vector<T, N> &v, E e, const mask<N> &m) {
  return select(v, broadcast<T, N>(e), m);
}
template <class E, unsigned N, class = std::enable_if_t<host::is_scalar<E>>>
vector<E, N> select(E a, E b, const mask<N> &m) {
  return select(broadcast<E, N>(a), broadcast<E, N>(b), m);
}

template <class T, unsigned N, class L, class H>
vector<T, N> clamp(const vector<T, N> &v, const L &low, const H &high) {
  return max(min(v, high), low);
}

// The greater and where it is the second one; the smaller likewise.
template <class T, unsigned N>
std::pair<vector<T, N>, mask<N>> max_cmp(const vector<T, N> &v, const vector<T, N> &w) {
  return {max(v, w), lt(v, w)};
}
template <class T, unsigned N>
std::pair<vector<T, N>, mask<N>> min_cmp(const vector<T, N> &v, const vector<T, N> &w) {
  return {min(v, w), ge(v, w)};
}

// ---- over all elements; sums wrap, those of bfloat16 are made in float and rounded once. Floats
// are added in halves, as the array does: x[i] + x[i + N/2], again and again.

template <class T, unsigned N> T reduce_add(const vector<T, N> &v) {
  using S = std::conditional_t<host::is_real<T>, float, std::make_unsigned_t<
      std::conditional_t<host::is_real<T>, int32_t, T>>>;
  S sum[N];
  for (unsigned i = 0; i < N; i++) sum[i] = (S)v.data[i];
  for (unsigned half = N / 2; half > 0; half /= 2)
    for (unsigned i = 0; i < half; i++) sum[i] = (S)(sum[i] + sum[i + half]);
  return host::element<T>(sum[0]);
}
template <class T, unsigned N> T reduce_mul(const vector<T, N> &v) {
  host::compute_t<T> out = v.data[0];
  for (unsigned i = 1; i < N; i++) out = (host::compute_t<T>)(out * v.data[i]);
  return host::element<T>(out);
}
template <class T, unsigned N> T reduce_max(const vector<T, N> &v) {
  T out = v.data[0];
  for (unsigned i = 1; i < N; i++) out = out < v.data[i] ? v.data[i] : out;
  return out;
}
template <class T, unsigned N> T reduce_min(const vector<T, N> &v) {
  T out = v.data[0];
  for (unsigned i = 1; i < N; i++) out = v.data[i] < out ? v.data[i] : out;
  return out;
}
// The sums of several vectors as the first elements of one.
template <class T, unsigned N, class... More>
vector<T, N> reduce_add_v(const vector<T, N> &first, const More &...more) {
  return vector<T, N>(reduce_add(first), reduce_add(more)...);
}

namespace operators {
#define IRON_OPERATOR(OP, NAME)                                                       \
  template <class X, class Y, class = std::enable_if_t<is_vector_v<X> || is_vector_v<Y>>> \
  auto operator OP(const X &x, const Y &y) {                                          \
    return NAME(x, y);                                                                \
  }
IRON_OPERATOR(==, eq)
IRON_OPERATOR(!=, neq)
IRON_OPERATOR(<, lt)
IRON_OPERATOR(<=, le)
IRON_OPERATOR(>, gt)
IRON_OPERATOR(>=, ge)
#undef IRON_OPERATOR
}  // namespace operators

}  // namespace aie
