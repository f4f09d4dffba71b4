// aie::accum: wide numbers that products are added into. They wrap; only leaving them rounds and
// saturates.
#pragma once
#include "vector.hpp"

namespace aie {

template <class Tag, unsigned N> class accum {
 public:
  using value_type = host::storage_t<Tag>;
  value_type data[N] = {};

  accum() = default;
  template <class T> explicit accum(const vector<T, N> &v, int shift = 0) { from_vector(v, shift); }
  // Any tag that is held in the same bits.
  template <class Tag2, class = std::enable_if_t<
                            std::is_same_v<host::storage_t<Tag2>, host::storage_t<Tag>>>>
  accum(const accum<Tag2, N> &other) {
    std::memcpy(data, other.data, sizeof data);
  }
  template <class T> accum &operator=(const vector<T, N> &v) {
    from_vector(v);
    return *this;
  }

  static constexpr unsigned size() { return N; }
  static constexpr unsigned accum_bits() { return 8 * sizeof(value_type); }
  static constexpr unsigned value_bits() { return accum_bits(); }
  static constexpr unsigned memory_bits() { return accum_bits(); }
  static constexpr unsigned bits() { return N * accum_bits(); }
  static constexpr bool is_complex() { return false; }
  static constexpr bool is_real() { return true; }
  static constexpr bool is_floating_point() { return std::is_same_v<value_type, float>; }

  template <class T> void from_vector(const vector<T, N> &v, int shift = 0) {
    for (unsigned i = 0; i < N; i++) data[i] = entered(v.data[i], shift);
  }

  template <class T> vector<T, N> to_vector(int shift = 0) const {
    vector<T, N> out;
    if constexpr (is_floating_point()) {
      static_assert(host::is_real<T>, "a float accumulator gives float or bfloat16");
      rounding_mode mode = host::modes.rounding;
      for (unsigned i = 0; i < N; i++) {
        if constexpr (host::is_bf16<T>)
          out.data[i] = host::narrowed(data[i], mode);
        else
          out.data[i] = data[i];
      }
    } else if constexpr (std::is_same_v<T, float>) {
      static_assert(sizeof(value_type) == 4, "the bits of a float are held in 32");
      std::memcpy(out.data, data, sizeof data);
    } else {
      static_assert(std::is_integral_v<T>, "an integer accumulator gives integers");
      rounding_mode mode = host::modes.rounding;
      saturation_mode limits = host::modes.saturation;
      if (mode == rounding_mode::floor && limits == saturation_mode::none && shift >= 0) {
        for (unsigned i = 0; i < N; i++) out.data[i] = (T)(data[i] >> shift);
      } else {
        for (unsigned i = 0; i < N; i++)
          out.data[i] = host::saturated<T>(host::round_shift(data[i], shift, mode), limits);
      }
    }
    return out;
  }
  auto to_vector() const {
    static_assert(is_floating_point(), "name the element: to_vector<int16>()");
    return to_vector<float>();
  }
  // A float accumulator is a vector of its numbers wherever one is wanted.
  template <class T, class = std::enable_if_t<host::is_real<T> && is_floating_point()>>
  operator vector<T, N>() const {
    return to_vector<T>();
  }

  template <unsigned M> accum<Tag, M> extract(unsigned i) const {
    accum<Tag, M> out;
    for (unsigned l = 0; l < M; l++) out.data[l] = data[i * M + l];
    return out;
  }
  template <unsigned M, class Tag2> accum &insert(unsigned i, const accum<Tag2, M> &part) {
    static_assert(M <= N, "the part is longer than the whole");
    for (unsigned l = 0; l < M; l++) data[i * M + l] = part.data[l];
    return *this;
  }
  template <unsigned M> accum<Tag, M> grow(unsigned i = 0) const {
    accum<Tag, M> out;
    out.insert(i, *this);
    return out;
  }
  template <unsigned M> accum<Tag, M> grow_replicate() const {
    accum<Tag, M> out;
    for (unsigned l = 0; l < M; l++) out.data[l] = data[l % N];
    return out;
  }
  template <unsigned M> std::array<accum<Tag, M>, N / M> split() const {
    std::array<accum<Tag, M>, N / M> out;
    for (unsigned i = 0; i < N / M; i++) out[i] = extract<M>(i);
    return out;
  }
  // The same bits under another tag.
  template <class Tag2> auto cast_to() const {
    accum<Tag2, N * sizeof(value_type) / sizeof(host::storage_t<Tag2>)> out;
    std::memcpy(out.data, data, sizeof data);
    return out;
  }

 private:
  template <class T> static value_type entered(T x, int shift) {
    if constexpr (is_floating_point()) {
      static_assert(host::is_real<T>, "integers do not enter a float accumulator: aie::to_float");
      return (float)x;
    } else if constexpr (std::is_same_v<T, float>) {
      static_assert(sizeof(value_type) == 4, "the bits of a float are held in 32");
      return (value_type)iron::bits_of(x);
    } else {
      static_assert(std::is_integral_v<T>, "reals do not enter an integer accumulator");
      if constexpr (sizeof(value_type) == 8)
        return (int64_t)((uint64_t)(int64_t)x << shift);
      else
        return host::saturated<value_type>((int64_t)((uint64_t)(int64_t)x << shift),
                                           host::modes.saturation);
    }
  }
};

template <class A> struct is_accum : std::false_type {};
template <class Tag, unsigned N> struct is_accum<accum<Tag, N>> : std::true_type {};
template <class A> inline constexpr bool is_accum_v = is_accum<A>::value;

// ---- made of nothing

template <class T, unsigned N> auto zeros() {
  if constexpr (host::IsTag<T>::value)
    return accum<T, N>();
  else
    return vector<T, N>();
}
template <class T, unsigned N = host::native_length<T>, class E> vector<T, N> broadcast(E x) {
  T value = (T)x;
  return host::each<T, N>([&](unsigned) { return value; });
}
template <class T, unsigned N = host::native_length<T>> vector<T, N> iota(T first = 0, T step = 1) {
  return host::each<T, N>([&](unsigned i) { return (T)(first + (T)i * step); });
}

// ---- joined

namespace host {
template <class To, class... Parts> To joined(const Parts &...parts) {
  To out;
  unsigned at = 0;
  auto add = [&](const auto &part) {
    for (unsigned l = 0; l < part.size(); l++) out.data[at + l] = part.data[l];
    at += part.size();
  };
  (add(parts), ...);
  return out;
}
}  // namespace host

template <class T, unsigned N, class... More>
auto concat(const vector<T, N> &first, const More &...more) {
  return host::joined<vector<T, (N + ... + More::size())>>(first, more...);
}
template <class Tag, unsigned N, class... More>
auto concat(const accum<Tag, N> &first, const More &...more) {
  return host::joined<accum<Tag, (N + ... + More::size())>>(first, more...);
}

template <class U, class T, unsigned N> auto vector_cast(const vector<T, N> &v) {
  return v.template cast_to<U>();
}
template <class U, class T, unsigned N> vector<U, N> pack(const vector<T, N> &v) {
  return v.template pack<U>();
}
template <class T, unsigned N> auto pack(const vector<T, N> &v) { return v.pack(); }
template <class U, class T, unsigned N> vector<U, N> unpack(const vector<T, N> &v) {
  return v.template unpack<U>();
}
template <class T, unsigned N> auto unpack(const vector<T, N> &v) { return v.unpack(); }

}  // namespace aie
