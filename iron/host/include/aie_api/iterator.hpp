// Iterators that go through memory by vectors.
#pragma once
#include "vector.hpp"

namespace aie {

// `Period`: after so many vectors it is at the start again; 0 never.
template <class T, unsigned N> class vector_iterator {
 public:
  using value_type = vector<std::remove_const_t<T>, N>;
  using held = std::conditional_t<std::is_const_v<T>, const value_type, value_type>;
  using reference = held &;
  using pointer = held *;
  using difference_type = std::ptrdiff_t;

  explicit vector_iterator(T *base, unsigned period = 0) : base_(base), period_(period) {}
  // A vector is its elements in memory, so one may stand for the other.
  reference operator*() const { return *at(where_); }
  pointer operator->() const { return at(where_); }
  reference operator[](difference_type n) const { return *at(where_ + n); }
  vector_iterator &operator++() { return *this += 1; }
  vector_iterator &operator--() { return *this -= 1; }
  vector_iterator operator++(int) {
    vector_iterator before = *this;
    *this += 1;
    return before;
  }
  vector_iterator operator--(int) {
    vector_iterator before = *this;
    *this -= 1;
    return before;
  }
  vector_iterator &operator+=(difference_type n) {
    where_ += n;
    return *this;
  }
  vector_iterator &operator-=(difference_type n) { return *this += -n; }
  vector_iterator operator+(difference_type n) const { return vector_iterator(*this) += n; }
  vector_iterator operator-(difference_type n) const { return vector_iterator(*this) -= n; }
  difference_type operator-(const vector_iterator &o) const { return where_ - o.where_; }
  bool operator==(const vector_iterator &o) const { return base_ == o.base_ && where_ == o.where_; }

 private:
  pointer at(difference_type n) const {
    if (period_) n = (n % (difference_type)period_ + period_) % period_;
    T *from = base_ + n * (difference_type)N;
    host::check_aligned<std::remove_const_t<T>, N>(from);
    return reinterpret_cast<pointer>(from);
  }
  T *base_;
  difference_type where_ = 0;
  unsigned period_;
};

#define IRON_BEGIN(NAME, CNAME)                                                         \
  template <unsigned N, class T> vector_iterator<T, N> NAME(T *base) {                  \
    return vector_iterator<T, N>(base);                                                 \
  }                                                                                     \
  template <unsigned N, class T> vector_iterator<const T, N> CNAME(const T *base) {     \
    return vector_iterator<const T, N>(base);                                           \
  }
IRON_BEGIN(begin_vector, cbegin_vector)
IRON_BEGIN(begin_restrict_vector, cbegin_restrict_vector)
#undef IRON_BEGIN
// A ring of `elements`; the random one may go anywhere in it, and so may this.
#define IRON_CIRCULAR(NAME)                                                             \
  template <unsigned N, unsigned Elements, class T> vector_iterator<T, N> NAME(T *base) { \
    static_assert(Elements % N == 0, "a ring of whole vectors");                        \
    return vector_iterator<T, N>(base, Elements / N);                                   \
  }                                                                                     \
  template <unsigned N, class T> vector_iterator<T, N> NAME(T *base, unsigned elements) { \
    return vector_iterator<T, N>(base, elements / N);                                   \
  }
IRON_CIRCULAR(begin_vector_circular)
IRON_CIRCULAR(begin_restrict_vector_circular)
IRON_CIRCULAR(begin_vector_random_circular)
IRON_CIRCULAR(begin_restrict_vector_random_circular)
#undef IRON_CIRCULAR

}  // namespace aie
