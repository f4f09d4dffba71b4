// Vectors of core bodies: elements in row-major order, plain loops over them.
#pragma once
#include <cstdint>

namespace iron {

template <class T, int64_t N> struct vec {
  T v[N];
};

template <class T, int64_t N, class F> vec<T, N> each(F f) {
  vec<T, N> out;
  for (int64_t l = 0; l < N; l++) out.v[l] = f(l);
  return out;
}

template <class T, int64_t N> vec<T, N> splat(T x) {
  return each<T, N>([&](int64_t) { return x; });
}

template <class T, int64_t N> vec<T, N> pick(const T *from, const int32_t *positions) {
  return each<T, N>([&](int64_t l) { return from[positions[l]]; });
}

template <class T, int64_t A, int64_t B> vec<T, A + B> join(const vec<T, A> &a, const vec<T, B> &b) {
  return each<T, A + B>([&](int64_t l) { return l < A ? a.v[l] : b.v[l - A]; });
}

// The vector with some elements replaced.
template <class T, int64_t N>
vec<T, N> put(vec<T, N> whole, const T *part, const int32_t *positions, int64_t count) {
  for (int64_t l = 0; l < count; l++) whole.v[positions[l]] = part[l];
  return whole;
}

template <class T, int64_t N>
vec<T, N> put_at(vec<T, N> whole, const T *part, int64_t place, int64_t count) {
  for (int64_t l = 0; l < count; l++) whole.v[place + l] = part[l];
  return whole;
}

template <class T, class F> T fold(const T *from, int64_t count, int64_t step, F f) {
  T out = from[0];
  for (int64_t l = 1; l < count; l++) out = f(out, from[l * step]);
  return out;
}

// Call f(element of the vector, element of memory) for all, given shape and steps of each dimension.
template <int R, class F>
void visit(const int64_t *shape, const int64_t *steps, int64_t &lane, int64_t place, F &f) {
  if constexpr (R == 0) {
    f(lane++, place);
  } else {
    for (int64_t i = 0; i < shape[0]; i++)
      visit<R - 1>(shape + 1, steps + 1, lane, place + i * steps[0], f);
  }
}

template <class T, int64_t N, int R>
vec<T, N> load(const T *from, const int64_t *shape, const int64_t *steps) {
  vec<T, N> out;
  int64_t lane = 0;
  auto f = [&](int64_t l, int64_t place) { out.v[l] = from[place]; };
  visit<R>(shape, steps, lane, 0, f);
  return out;
}

template <int R, class T, int64_t N>
void store(const vec<T, N> &from, T *to, const int64_t *shape, const int64_t *steps) {
  int64_t lane = 0;
  auto f = [&](int64_t l, int64_t place) { to[place] = from.v[l]; };
  visit<R>(shape, steps, lane, 0, f);
}

}  // namespace iron
