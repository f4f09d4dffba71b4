// aie::print: vectors, masks and accumulators on standard output.
#pragma once
#include <cstdio>

#include "aie.hpp"

namespace aie {

namespace host {
template <class T> void print_number(T x) {
  if constexpr (is_real<T>)
    std::printf("%g", (double)(float)x);
  else
    std::printf("%lld", (long long)x);
}
template <class V> void print_row(const V &v, unsigned from, unsigned count) {
  for (unsigned i = from; i < from + count; i++) {
    if (i > from) std::printf(" ");
    print_number(v.data[i]);
  }
}
inline void print_around(const char *text) {
  if (text) std::printf("%s", text);
}
}  // namespace host

template <class V, class = std::enable_if_t<is_vector_v<V> || is_accum_v<V>>>
void print(const V &v, bool new_line = false, const char *prefix = nullptr) {
  host::print_around(prefix);
  host::print_row(v, 0, V::size());
  if (new_line) std::printf("\n");
}
template <unsigned N>
void print(const mask<N> &m, bool new_line = false, const char *prefix = nullptr) {
  host::print_around(prefix);
  for (unsigned i = 0; i < N; i++) std::printf(i ? " %d" : "%d", (int)m.test(i));
  if (new_line) std::printf("\n");
}
template <class V> void print_matrix(const V &v, unsigned columns, const char *prefix = nullptr) {
  host::print_around(prefix);
  for (unsigned i = 0; i < V::size(); i += columns) {
    host::print_row(v, i, columns);
    std::printf("\n");
  }
}

}  // namespace aie
