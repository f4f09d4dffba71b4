// Tables in memory: parallel lookup and linear approximation of integers.
//
// A table with 4 accesses lies in memory twice, in runs of 16 bytes for either bank: the entry i of
// E entries a run is at  i / E * 2E + i % E.  The second array (cd) holds the same.
#pragma once
#include "arithmetic.hpp"

namespace aie {

enum class lut_oor_policy { saturate, truncate };

template <unsigned Accesses, class Offset, class Slope = Offset> struct lut {
  static_assert(Accesses == 1 || Accesses == 2 || Accesses == 4, "1, 2 or 4 accesses at once");
  lut(unsigned elements, const void *ab, const void * = nullptr)
      : elements(elements), table((const char *)ab) {}
  // The bytes of entry i.
  template <class Entry> Entry entry(unsigned i) const {
    constexpr unsigned run = 16 / sizeof(Entry);
    unsigned at = Accesses == 1 ? i : i / run * 2 * run + i % run;
    Entry out;
    std::memcpy(&out, table + at * sizeof(Entry), sizeof out);
    return out;
  }
  unsigned elements;
  const char *table;
};

namespace host {
// The index inside [0, elements) that stands for `index`.
inline unsigned in_table(int64_t index, unsigned elements, bool wraps) {
  int64_t n = elements;
  if (wraps) return (unsigned)((index % n + n) % n);
  return (unsigned)(index < 0 ? 0 : index >= n ? n - 1 : index);
}
}  // namespace host

// value = table[(input >> step_bits) + bias]
template <class T, class Table, lut_oor_policy Policy = lut_oor_policy::saturate>
class parallel_lookup;
template <class T, unsigned A, class Offset, class Slope, lut_oor_policy Policy>
class parallel_lookup<T, lut<A, Offset, Slope>, Policy> {
  static_assert(std::is_integral_v<T>, "the index is an integer");

 public:
  parallel_lookup(const lut<A, Offset, Slope> &table, unsigned step_bits, unsigned bias = 0)
      : table_(table), step_(step_bits), bias_(bias) {}
  template <unsigned N> vector<Offset, N> fetch(const vector<T, N> &input) const {
    return host::each<Offset, N>([&](unsigned i) {
      int64_t index = ((int64_t)input.data[i] >> step_) + bias_;
      return table_.template entry<Offset>(
          host::in_table(index, table_.elements, Policy == lut_oor_policy::truncate));
    });
  }

 private:
  lut<A, Offset, Slope> table_;
  unsigned step_;
  int64_t bias_;
};

// value = slope * (input's low step_bits) + (offset << shift_offset); a table of pairs.
template <class T, class Table> class linear_approx;
template <class T, unsigned A, class Offset, class Slope>
class linear_approx<T, lut<A, Offset, Slope>> {
  static_assert(std::is_integral_v<T> && std::is_same_v<Offset, Slope>,
                "linear_approx on the host: integers with slope and offset of one type");
  struct Pair {
    Slope slope;
    Offset offset;
  };

 public:
  linear_approx(const lut<A, Offset, Slope> &table, unsigned step_bits, int bias = 0,
                int shift_offset = 0)
      : table_(table), step_(step_bits), bias_(bias), shift_(shift_offset) {}
  template <unsigned N> auto compute(const vector<T, N> &input) const {
    using Tag = host::product_t<T, Slope>;
    return host::wide<Tag, N>([&](unsigned i) {
      int64_t x = input.data[i], rest = x & (((int64_t)1 << step_) - 1);
      Pair p = table_.template entry<Pair>(host::in_table((x >> step_) + bias_, table_.elements, false));
      return (host::storage_t<Tag>)(p.slope * rest + ((int64_t)p.offset << shift_));
    });
  }

 private:
  lut<A, Offset, Slope> table_;
  unsigned step_;
  int bias_, shift_;
};

}  // namespace aie
