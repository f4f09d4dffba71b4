// Elements in another order.
#pragma once
#include "accum.hpp"

namespace aie {

namespace host {
// The element with the number from(i) of the concatenation of both, for all i.
template <class T, unsigned N, class F>
vector<T, N> picked(const vector<T, N> &v, const vector<T, N> &w, F from) {
  return each<T, N>([&](unsigned i) {
    unsigned at = from(i);
    return at < N ? v.data[at] : w.data[at - N];
  });
}
}  // namespace host

template <class T, unsigned N> vector<T, N> reverse(const vector<T, N> &v) {
  return host::each<T, N>([&](unsigned i) { return v.data[N - 1 - i]; });
}

// A row-major matrix, transposed.
template <class T, unsigned N>
vector<T, N> transpose(const vector<T, N> &v, unsigned rows, unsigned columns) {
  return host::each<T, N>([&](unsigned i) { return v.data[i % rows * columns + i / rows]; });
}

// Up: to greater indices. What comes in: what was there, the other end, an end's copies, or the
// neighbouring elements of another vector.
template <class T, unsigned N> vector<T, N> shuffle_up_rotate(const vector<T, N> &v, unsigned n) {
  return host::each<T, N>([&](unsigned i) { return v.data[(i + N - n % N) % N]; });
}
template <class T, unsigned N>
vector<T, N> shuffle_down_rotate(const vector<T, N> &v, unsigned n) {
  return host::each<T, N>([&](unsigned i) { return v.data[(i + n) % N]; });
}
template <class T, unsigned N> vector<T, N> shuffle_up(const vector<T, N> &v, unsigned n) {
  return shuffle_up_rotate(v, n);
}
template <class T, unsigned N> vector<T, N> shuffle_down(const vector<T, N> &v, unsigned n) {
  return shuffle_down_rotate(v, n);
}
template <class T, unsigned N>
vector<T, N> shuffle_up_replicate(const vector<T, N> &v, unsigned n) {
  return host::each<T, N>([&](unsigned i) { return v.data[i < n ? 0 : i - n]; });
}
template <class T, unsigned N>
vector<T, N> shuffle_down_replicate(const vector<T, N> &v, unsigned n) {
  return host::each<T, N>([&](unsigned i) { return v.data[i + n < N ? i + n : N - 1]; });
}
template <class T, unsigned N>
vector<T, N> shuffle_up_fill(const vector<T, N> &v, const vector<T, N> &fill, unsigned n) {
  return host::picked(fill, v, [&](unsigned i) { return i + N - n; });
}
template <class T, unsigned N>
vector<T, N> shuffle_down_fill(const vector<T, N> &v, const vector<T, N> &fill, unsigned n) {
  return host::picked(v, fill, [&](unsigned i) { return i + n; });
}

// Every other chunk of so many elements.
template <class T, unsigned N>
vector<T, N / 2> filter_even(const vector<T, N> &v, unsigned chunk = 1) {
  return host::each<T, N / 2>([&](unsigned i) { return v.data[i / chunk * 2 * chunk + i % chunk]; });
}
template <class T, unsigned N>
vector<T, N / 2> filter_odd(const vector<T, N> &v, unsigned chunk = 1) {
  return host::each<T, N / 2>(
      [&](unsigned i) { return v.data[(i / chunk * 2 + 1) * chunk + i % chunk]; });
}

// Chunks of both in turn, as two vectors; and back.
template <class T, unsigned N>
std::pair<vector<T, N>, vector<T, N>> interleave_zip(const vector<T, N> &v, const vector<T, N> &w,
                                                     unsigned chunk) {
  auto from = [&](unsigned i) {
    unsigned block = i / chunk;
    return block % 2 * N + block / 2 * chunk + i % chunk;
  };
  return {host::picked(v, w, from), host::picked(v, w, [&](unsigned i) { return from(i + N); })};
}
template <class T, unsigned N>
std::pair<vector<T, N>, vector<T, N>> interleave_unzip(const vector<T, N> &v,
                                                       const vector<T, N> &w, unsigned chunk) {
  auto even = [&](unsigned i) { return i / chunk * 2 * chunk + i % chunk; };
  return {host::picked(v, w, even),
          host::picked(v, w, [&](unsigned i) { return even(i) + chunk; })};
}
template <class T, unsigned N> struct interleave_zip_mode {
  unsigned chunk;
  explicit interleave_zip_mode(unsigned chunk) : chunk(chunk) {}
};
template <class T, unsigned N> struct interleave_unzip_mode {
  unsigned chunk;
  explicit interleave_unzip_mode(unsigned chunk) : chunk(chunk) {}
};
template <class T, unsigned N>
auto interleave_zip(const vector<T, N> &v, const vector<T, N> &w,
                    const interleave_zip_mode<T, N> &mode) {
  return interleave_zip(v, w, mode.chunk);
}
template <class T, unsigned N>
auto interleave_unzip(const vector<T, N> &v, const vector<T, N> &w,
                      const interleave_unzip_mode<T, N> &mode) {
  return interleave_unzip(v, w, mode.chunk);
}

}  // namespace aie
