// Element by element: sums, products into accumulators, bits and shifts.
#pragma once
#include "accum.hpp"

namespace aie {

// ---- vectors: sums and differences wrap; those of bfloat16 are rounded in the mode of the core

namespace host {
template <class T, unsigned N, class F>
inline vector<T, N> both(const vector<T, N> &a, const vector<T, N> &b, F f) {
  using C = compute_t<T>;
  return each<T, N>([&](unsigned i) { return element<T>(f((C)a.data[i], (C)b.data[i])); });
}
template <class T, unsigned N, class F> inline vector<T, N> one(const vector<T, N> &a, F f) {
  using C = compute_t<T>;
  return each<T, N>([&](unsigned i) { return element<T>(f((C)a.data[i])); });
}
// Unsigned arithmetic wraps without asking; small integers promote to int.
template <class C> using wrapping = std::conditional_t<std::is_floating_point_v<C>, C,
                                                       std::conditional_t<sizeof(C) == 8, uint64_t, uint32_t>>;
}  // namespace host

// A binary operation of two vectors, and of a vector and a number on either side.
#define IRON_BINARY(NAME, ...)                                                              \
  template <class T, unsigned N>                                                            \
  vector<T, N> NAME(const vector<T, N> &v, const vector<T, N> &w) {                         \
    return host::both(v, w, [](auto a, auto b) { return __VA_ARGS__; });                    \
  }                                                                                         \
  template <class T, unsigned N, class E, class = std::enable_if_t<host::is_scalar<E>>>     \
  vector<T, N> NAME(const vector<T, N> &v, E e) {                                           \
    return NAME(v, broadcast<T, N>(e));                                                     \
  }                                                                                         \
  template <class T, unsigned N, class E, class = std::enable_if_t<host::is_scalar<E>>>     \
  vector<T, N> NAME(E e, const vector<T, N> &v) {                                           \
    return NAME(broadcast<T, N>(e), v);                                                     \
  }
#define IRON_W(x) (host::wrapping<decltype(x)>)(x)
IRON_BINARY(add, (decltype(a))(IRON_W(a) + IRON_W(b)))
IRON_BINARY(sub, (decltype(a))(IRON_W(a) - IRON_W(b)))
IRON_BINARY(max, a < b ? b : a)
IRON_BINARY(min, b < a ? b : a)
IRON_BINARY(maxdiff, (decltype(a))(a > b ? IRON_W(a) - IRON_W(b) : 0))
IRON_BINARY(bit_and, (decltype(a))(a & b))
IRON_BINARY(bit_or, (decltype(a))(a | b))
IRON_BINARY(bit_xor, (decltype(a))(a ^ b))
#undef IRON_BINARY

namespace host {
template <class T, unsigned N, class F>
vector<T, N> clamped(const vector<T, N> &v, const vector<T, N> &w, F f) {
  static_assert(std::is_integral_v<T> && sizeof(T) < 8, "saturating sums are of integers");
  return each<T, N>([&](unsigned i) {
    return saturated<T>(f((int64_t)v.data[i], (int64_t)w.data[i]), saturation_mode::saturate);
  });
}
}  // namespace host
template <class T, unsigned N>
vector<T, N> saturating_add(const vector<T, N> &v, const vector<T, N> &w) {
  return host::clamped(v, w, [](int64_t a, int64_t b) { return a + b; });
}
template <class T, unsigned N>
vector<T, N> saturating_sub(const vector<T, N> &v, const vector<T, N> &w) {
  return host::clamped(v, w, [](int64_t a, int64_t b) { return a - b; });
}
template <class T, unsigned N> vector<T, N> saturating_add(const vector<T, N> &v, T e) {
  return saturating_add(v, broadcast<T, N>(e));
}
template <class T, unsigned N> vector<T, N> saturating_sub(const vector<T, N> &v, T e) {
  return saturating_sub(v, broadcast<T, N>(e));
}

namespace host {
template <class C> C negated(C a) {
  if constexpr (std::is_floating_point_v<C>)
    return -a;
  else
    return (C)(0 - (wrapping<C>)a);
}
template <class C> C magnitude(C a) {
  if constexpr (std::is_floating_point_v<C>)
    return std::fabs(a);
  else
    return a < 0 ? negated(a) : a;
}
}  // namespace host
template <class T, unsigned N> vector<T, N> neg(const vector<T, N> &v) {
  return host::one(v, [](auto a) { return host::negated(a); });
}
template <class T, unsigned N> vector<T, N> abs(const vector<T, N> &v) {
  return host::one(v, [](auto a) { return host::magnitude(a); });
}
template <class T, unsigned N> vector<T, N> bit_not(const vector<T, N> &v) {
  return host::one(v, [](auto a) { return (decltype(a))~a; });
}

// Shifts go through an accumulator: they round and saturate in the modes of the core.
template <class T, unsigned N> vector<T, N> upshift(const vector<T, N> &v, unsigned shift) {
  return accum<typename host::Product<T, T>::type, N>(v, shift).template to_vector<T>();
}
template <class T, unsigned N> vector<T, N> downshift(const vector<T, N> &v, unsigned shift) {
  return accum<typename host::Product<T, T>::type, N>(v).template to_vector<T>(shift);
}
// Zeros come in from above.
template <class T, unsigned N>
vector<T, N> logical_downshift(const vector<T, N> &v, unsigned shift) {
  return host::one(v, [&](auto a) { return (T)((std::make_unsigned_t<T>)a >> shift); });
}

// Of two numbers.
template <class E, class = std::enable_if_t<host::is_scalar<E>>> E max(E a, E b) {
  return a < b ? b : a;
}
template <class E, class = std::enable_if_t<host::is_scalar<E>>> E min(E a, E b) {
  return b < a ? b : a;
}
template <class E, class = std::enable_if_t<host::is_scalar<E>>> E abs(E a) {
  return (E)host::magnitude((host::compute_t<E>)a);
}

// ---- accumulators

namespace host {
template <class Tag, unsigned N, class F> accum<Tag, N> wide(F f) {
  accum<Tag, N> out;
  for (unsigned i = 0; i < N; i++) out.data[i] = f(i);
  return out;
}
// The product in the numbers of the accumulator; integers wrap there.
template <class Tag, class A, class B> storage_t<Tag> product(A a, B b) {
  using S = storage_t<Tag>;
  if constexpr (std::is_same_v<S, float>) {
    return (float)a * (float)b;
  } else {
    static_assert(std::is_integral_v<A> && std::is_integral_v<B>, "a product of reals is a real");
    using U = std::make_unsigned_t<S>;
    return (S)((U)(S)a * (U)(S)b);
  }
}
template <class S> S plus(S a, S b) {
  if constexpr (std::is_same_v<S, float>)
    return a + b;
  else
    return (S)((std::make_unsigned_t<S>)a + (std::make_unsigned_t<S>)b);
}
template <class S> S minus(S a, S b) {
  if constexpr (std::is_same_v<S, float>)
    return a - b;
  else
    return (S)((std::make_unsigned_t<S>)a - (std::make_unsigned_t<S>)b);
}
// The numbers that take part in a product: elements, or one number for all.
template <class T, unsigned N> T at(const vector<T, N> &v, unsigned i) { return v.data[i]; }
template <class E, class = std::enable_if_t<is_scalar<E>>> E at(E e, unsigned) { return e; }

template <class X> struct Element {
  using type = X;
};
template <class T, unsigned N> struct Element<vector<T, N>> {
  using type = T;
};
template <class X> using element_t = typename Element<X>::type;

template <class X, class Y> constexpr unsigned lanes() {
  if constexpr (is_vector_v<X>)
    return X::size();
  else
    return Y::size();
}
template <class X, class Y>
inline constexpr bool is_product = (is_vector_v<X> && (is_vector_v<Y> || is_scalar<Y>)) ||
                                   (is_scalar<X> && is_vector_v<Y>);
}  // namespace host

// With the vectors or numbers of a product, either of them a number for all elements.
template <class Tag = accauto, class X, class Y, class = std::enable_if_t<host::is_product<X, Y>>>
auto mul(const X &x, const Y &y) {
  using T = host::product_t<host::element_t<X>, host::element_t<Y>, Tag>;
  return host::wide<T, host::lanes<X, Y>()>(
      [&](unsigned i) { return host::product<T>(host::at(x, i), host::at(y, i)); });
}
template <class Tag = accauto, class X, class Y, class = std::enable_if_t<host::is_product<X, Y>>>
auto negmul(const X &x, const Y &y) {
  using T = host::product_t<host::element_t<X>, host::element_t<Y>, Tag>;
  return host::wide<T, host::lanes<X, Y>()>([&](unsigned i) {
    return host::minus((host::storage_t<T>)0, host::product<T>(host::at(x, i), host::at(y, i)));
  });
}
template <class Tag, unsigned N, class X, class Y,
          class = std::enable_if_t<host::is_product<X, Y>>>
accum<Tag, N> mac(const accum<Tag, N> &acc, const X &x, const Y &y) {
  static_assert(host::lanes<X, Y>() == N, "operands of one length");
  return host::wide<Tag, N>([&](unsigned i) {
    return host::plus(acc.data[i], host::product<Tag>(host::at(x, i), host::at(y, i)));
  });
}
template <class Tag, unsigned N, class X, class Y,
          class = std::enable_if_t<host::is_product<X, Y>>>
accum<Tag, N> msc(const accum<Tag, N> &acc, const X &x, const Y &y) {
  static_assert(host::lanes<X, Y>() == N, "operands of one length");
  return host::wide<Tag, N>([&](unsigned i) {
    return host::minus(acc.data[i], host::product<Tag>(host::at(x, i), host::at(y, i)));
  });
}
template <class Tag = accauto, class T, unsigned N> auto mul_square(const vector<T, N> &v) {
  return mul<Tag>(v, v);
}
template <class Tag, unsigned N, class T>
auto mac_square(const accum<Tag, N> &acc, const vector<T, N> &v) {
  return mac(acc, v, v);
}
template <class Tag, unsigned N, class T>
auto msc_square(const accum<Tag, N> &acc, const vector<T, N> &v) {
  return msc(acc, v, v);
}

// Sums of accumulators, and of an accumulator and a vector or number.
#define IRON_ACCUM(NAME, HOW)                                                              \
  template <class Tag, class Tag2, unsigned N>                                             \
  accum<Tag, N> NAME(const accum<Tag, N> &a, const accum<Tag2, N> &b) {                    \
    accum<Tag, N> c = b;                                                                   \
    return host::wide<Tag, N>([&](unsigned i) { return host::HOW(a.data[i], c.data[i]); }); \
  }                                                                                        \
  template <class Tag, class T, unsigned N>                                                \
  accum<Tag, N> NAME(const accum<Tag, N> &a, const vector<T, N> &b) {                      \
    return NAME(a, accum<Tag, N>(b));                                                      \
  }                                                                                        \
  template <class Tag, unsigned N, class E, class = std::enable_if_t<host::is_scalar<E>>>  \
  accum<Tag, N> NAME(const accum<Tag, N> &a, E e) {                                        \
    return host::wide<Tag, N>(                                                             \
        [&](unsigned i) { return host::HOW(a.data[i], (host::storage_t<Tag>)e); });        \
  }
IRON_ACCUM(add, plus)
IRON_ACCUM(sub, minus)
#undef IRON_ACCUM
template <class Tag, unsigned N> accum<Tag, N> neg(const accum<Tag, N> &a) {
  return host::wide<Tag, N>([&](unsigned i) { return host::minus((host::storage_t<Tag>)0, a.data[i]); });
}
#undef IRON_W

// ---- accumulate: each data vector times one coefficient, all added up

template <unsigned Lanes, class Tag, class C, unsigned NC, class... Data>
accum<Tag, Lanes> accumulate(accum<Tag, Lanes> acc, const vector<C, NC> &coeff, unsigned start,
                             const Data &...data) {
  auto step = [&](const auto &v) { acc = mac(acc, v, coeff.data[start++ % NC]); };
  (step(data), ...);
  return acc;
}
template <unsigned Lanes, class Tag = accauto, class C, unsigned NC, class T, class... Data>
auto accumulate(const vector<C, NC> &coeff, unsigned start, const vector<T, Lanes> &first,
                const Data &...data) {
  return accumulate<Lanes>(accum<host::product_t<C, T, Tag>, Lanes>(), coeff, start, first,
                           data...);
}

// `a + b` and the like for those who ask for them.
namespace operators {
#define IRON_OPERATOR(OP, NAME)                                                               \
  template <class X, class Y,                                                                 \
            class = std::enable_if_t<is_vector_v<X> || is_vector_v<Y> || is_accum_v<X>>>      \
  auto operator OP(const X &x, const Y &y) {                                                  \
    return NAME(x, y);                                                                        \
  }
IRON_OPERATOR(+, add)
IRON_OPERATOR(-, sub)
IRON_OPERATOR(*, mul)
IRON_OPERATOR(&, bit_and)
IRON_OPERATOR(|, bit_or)
IRON_OPERATOR(^, bit_xor)
#undef IRON_OPERATOR
template <class T, unsigned N> auto operator-(const vector<T, N> &v) { return neg(v); }
template <class T, unsigned N> auto operator~(const vector<T, N> &v) { return bit_not(v); }
template <class T, unsigned N> auto operator<<(const vector<T, N> &v, unsigned n) {
  return upshift(v, n);
}
template <class T, unsigned N> auto operator>>(const vector<T, N> &v, unsigned n) {
  return downshift(v, n);
}
}  // namespace operators

}  // namespace aie
