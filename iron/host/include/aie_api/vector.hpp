// aie::vector and aie::mask, and how vectors come from and go to memory.
#pragma once
#include <array>

#include "../iron_host.h"
#include "state.hpp"

namespace aie {

namespace host {
template <class T> inline constexpr unsigned native_length = 64 / sizeof(T);

// Vectors are loaded from multiples of their size, up to 32 bytes; the array reads other bytes
// than those asked for when they are not, so the run stops.
template <class T, unsigned N> void check_aligned(const T *at) {
  constexpr uintptr_t wanted = sizeof(T) * N < 32 ? sizeof(T) * N : 32;
  if ((reinterpret_cast<uintptr_t>(at) & (wanted - 1)) != 0 && iron_api)
    iron_api->fail(
        "a vector was loaded or stored at an address that is no multiple of its size (or of 32 "
        "bytes): the array would use other bytes; aie::load_unaligned_v and store_unaligned_v "
        "take any address");
}
}  // namespace host

template <class T, unsigned N = host::native_length<T>> class vector {
  static_assert(host::is_element<T>,
                "aie::vector on the host has 8 to 64 bit integers, bfloat16 and float; complex, "
                "4 bit and block floating point elements are not emulated");
  static_assert(N > 0 && (N & (N - 1)) == 0, "the number of elements is a power of two");

 public:
  using value_type = T;
  T data[N] = {};

  vector() = default;
  template <class... Rest> explicit vector(T first, Rest... rest) : data{first, (T)rest...} {
    static_assert(sizeof...(rest) < N, "more values than elements");
  }

  static constexpr unsigned size() { return N; }
  static constexpr unsigned type_bits() { return 8 * sizeof(T); }
  static constexpr unsigned bits() { return N * type_bits(); }
  static constexpr unsigned bytes() { return N * sizeof(T); }
  static constexpr bool is_signed() { return host::is_real<T> || std::is_signed_v<T>; }
  static constexpr bool is_complex() { return false; }
  static constexpr bool is_real() { return true; }
  static constexpr bool is_integral() { return std::is_integral_v<T>; }
  static constexpr bool is_floating_point() { return host::is_real<T>; }

  T &operator[](unsigned i) { return data[i]; }
  const T &operator[](unsigned i) const { return data[i]; }
  T &elem_ref(unsigned i) { return data[i]; }
  const T &elem_ref(unsigned i) const { return data[i]; }
  const T &elem_const_ref(unsigned i) const { return data[i]; }
  void set(T value, unsigned i) { data[i] = value; }
  T get(unsigned i) const { return data[i]; }
  // All go up by one place, the new one comes first.
  void push(T value) {
    for (unsigned i = N - 1; i > 0; i--) data[i] = data[i - 1];
    data[0] = value;
  }

  template <unsigned M> vector &insert(unsigned i, const vector<T, M> &part) {
    static_assert(M <= N, "the part is longer than the whole");
    for (unsigned l = 0; l < M; l++) data[i * M + l] = part.data[l];
    return *this;
  }
  template <unsigned M> vector<T, M> extract(unsigned i) const {
    static_assert(M <= N, "the part is longer than the whole");
    vector<T, M> out;
    for (unsigned l = 0; l < M; l++) out.data[l] = data[i * M + l];
    return out;
  }
  template <unsigned M> vector<T, M> grow(unsigned i = 0) const {
    vector<T, M> out;
    out.insert(i, *this);
    return out;
  }
  template <unsigned M> vector<T, M> grow_replicate() const {
    vector<T, M> out;
    for (unsigned l = 0; l < M; l++) out.data[l] = data[l % N];
    return out;
  }
  template <unsigned M> vector<T, M> grow_extract(unsigned i) const {
    if constexpr (M >= N)
      return grow<M>(i);
    else
      return extract<M>(i);
  }
  template <unsigned M> std::array<vector<T, M>, N / M> split() const {
    std::array<vector<T, M>, N / M> out;
    for (unsigned i = 0; i < N / M; i++) out[i] = extract<M>(i);
    return out;
  }

  // The same bits as other elements.
  template <class U> auto cast_to() const {
    vector<U, N * sizeof(T) / sizeof(U)> out;
    std::memcpy(out.data, data, sizeof data);
    return out;
  }
  // The same numbers in elements of twice or half the size.
  template <class U> vector<U, N> convert() const {
    vector<U, N> out;
    for (unsigned i = 0; i < N; i++)
      out.data[i] = host::saturated<U>((int64_t)data[i], host::modes.saturation);
    return out;
  }
  template <class U> vector<U, N> unpack() const { return convert<U>(); }
  template <class U> vector<U, N> pack() const { return convert<U>(); }
  auto unpack() const { return convert<resized<2 * sizeof(T)>>(); }
  auto pack() const { return convert<resized<sizeof(T) / 2>>(); }

  void load(const T *from) {
    host::check_aligned<T, N>(from);
    std::memcpy(data, from, sizeof data);
  }
  void store(T *to) const {
    host::check_aligned<T, N>(to);
    std::memcpy(to, data, sizeof data);
  }
  void load_unaligned(const T *from, unsigned = 1) { std::memcpy(data, from, sizeof data); }
  void store_unaligned(T *to, unsigned = 1) const { std::memcpy(to, data, sizeof data); }

 private:
  template <unsigned Bytes, bool Signed = std::is_signed_v<T>> static auto integer() {
    if constexpr (Bytes == 1)
      return std::conditional_t<Signed, int8_t, uint8_t>();
    else if constexpr (Bytes == 2)
      return std::conditional_t<Signed, int16_t, uint16_t>();
    else if constexpr (Bytes == 4)
      return std::conditional_t<Signed, int32_t, uint32_t>();
    else
      return std::conditional_t<Signed, int64_t, uint64_t>();
  }
  template <unsigned Bytes> using resized = decltype(integer<Bytes>());
};

template <class V> struct is_vector : std::false_type {};
template <class T, unsigned N> struct is_vector<vector<T, N>> : std::true_type {};
template <class V> inline constexpr bool is_vector_v = is_vector<V>::value;

namespace host {
// The vector of f(0), f(1), ...
template <class T, unsigned N, class F> inline vector<T, N> each(F f) {
  vector<T, N> out;
  for (unsigned i = 0; i < N; i++) out.data[i] = f(i);
  return out;
}

// What may stand for an element: a number, but no vector.
template <class E> inline constexpr bool is_scalar = std::is_arithmetic_v<E> || is_bf16<E>;
}  // namespace host

// ---- memory

template <unsigned N, class T> vector<std::remove_cv_t<T>, N> load_v(const T *from) {
  vector<std::remove_cv_t<T>, N> out;
  out.load(from);
  return out;
}
template <class T> auto load_v(const T *from) {
  return load_v<host::native_length<std::remove_cv_t<T>>>(from);
}
template <unsigned N, class T>
vector<std::remove_cv_t<T>, N> load_unaligned_v(const T *from, unsigned = 1) {
  vector<std::remove_cv_t<T>, N> out;
  out.load_unaligned(from);
  return out;
}
template <class T> auto load_unaligned_v(const T *from, unsigned = 1) {
  return load_unaligned_v<host::native_length<std::remove_cv_t<T>>>(from);
}
// From the vector boundary (of n elements) at or below the address.
template <unsigned N, class T>
vector<std::remove_cv_t<T>, N> load_floor_v(const T *from, unsigned n = N) {
  uintptr_t at = reinterpret_cast<uintptr_t>(from);
  return load_unaligned_v<N>(from - at % (n * sizeof(T)) / sizeof(T));
}
template <class T, unsigned N> T *store_v(T *to, const vector<T, N> &v) {
  v.store(to);
  return to;
}
template <class T, unsigned N>
T *store_unaligned_v(T *to, const vector<T, N> &v, unsigned = 1) {
  v.store_unaligned(to);
  return to;
}

// ---- one bit an element

template <unsigned N> class mask {
  bool bit_[N] = {};

 public:
  mask() = default;
  static constexpr unsigned size() { return N; }
  bool test(unsigned i) const { return bit_[i]; }
  bool operator[](unsigned i) const { return bit_[i]; }
  void set(unsigned i) { bit_[i] = true; }
  void clear(unsigned i) { bit_[i] = false; }
  void put(unsigned i, bool on) { bit_[i] = on; }
  void set() { *this = of([](unsigned) { return true; }); }
  void clear() { *this = mask(); }
  void toggle(unsigned i) { bit_[i] = !bit_[i]; }
  void toggle() { *this = ~*this; }
  unsigned count() const {
    unsigned n = 0;
    for (bool b : bit_) n += b;
    return n;
  }
  bool empty() const { return count() == 0; }
  bool full() const { return count() == N; }
  // Zeros above the highest and below the lowest bit that is set.
  unsigned clz() const {
    unsigned n = 0;
    while (n < N && !bit_[N - 1 - n]) n++;
    return n;
  }
  unsigned ctz() const {
    unsigned n = 0;
    while (n < N && !bit_[n]) n++;
    return n;
  }
  template <class F> static mask of(F f) {
    mask out;
    for (unsigned i = 0; i < N; i++) out.bit_[i] = f(i);
    return out;
  }
  // Words of 32 or 64 bits, the lowest elements first.
  template <class... W> static mask from_uint32(W... words) {
    const uint32_t all[] = {(uint32_t)words...};
    return of([&](unsigned i) { return i / 32 < sizeof...(words) && (all[i / 32] >> i % 32 & 1); });
  }
  template <class... W> static mask from_uint64(W... words) {
    const uint64_t all[] = {(uint64_t)words...};
    return of([&](unsigned i) { return i / 64 < sizeof...(words) && (all[i / 64] >> i % 64 & 1); });
  }
  uint32_t to_uint32(unsigned word = 0) const {
    uint32_t out = 0;
    for (unsigned i = 0; i < 32 && word * 32 + i < N; i++) out |= (uint32_t)bit_[word * 32 + i] << i;
    return out;
  }
  uint64_t to_uint64(unsigned word = 0) const {
    return to_uint32(2 * word) | (uint64_t)to_uint32(2 * word + 1) << 32;
  }
  template <unsigned M> mask<M> extract(unsigned i) const {
    return mask<M>::of([&](unsigned l) { return bit_[i * M + l]; });
  }
  mask operator~() const {
    return of([&](unsigned i) { return !bit_[i]; });
  }
  mask operator&(const mask &o) const {
    return of([&](unsigned i) { return bit_[i] && o.bit_[i]; });
  }
  mask operator|(const mask &o) const {
    return of([&](unsigned i) { return bit_[i] || o.bit_[i]; });
  }
  mask operator^(const mask &o) const {
    return of([&](unsigned i) { return bit_[i] != o.bit_[i]; });
  }
  mask operator<<(unsigned n) const {
    return of([&](unsigned i) { return i >= n && bit_[i - n]; });
  }
  mask operator>>(unsigned n) const {
    return of([&](unsigned i) { return i + n < N && bit_[i + n]; });
  }
  mask &operator&=(const mask &o) { return *this = *this & o; }
  mask &operator|=(const mask &o) { return *this = *this | o; }
  mask &operator^=(const mask &o) { return *this = *this ^ o; }
  bool operator==(const mask &o) const { return (*this ^ o).empty(); }
};

}  // namespace aie
