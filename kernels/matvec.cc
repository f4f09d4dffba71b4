// One tile of a matrix-vector product, c += A * b, and the zeroing of its accumulator:
//   matvec_scalar_i16_i32, zero_scalar_i32:         A row-major, DIM_M x DIM_K
//   matvec_vectorized_i16_i32, zero_vectorized_i32: A as pairs of columns, each pair row after row
// -DDIM_M and -DDIM_K give the extents (default 32). Sums wrap.
#include <cstdint>

#ifndef DIM_M
#define DIM_M 32
#endif
#ifndef DIM_K
#define DIM_K 32
#endif

namespace {

template <class At> void multiply(const std::int16_t *a, const std::int16_t *b, std::int32_t *c) {
  for (int m = 0; m < DIM_M; ++m) {
    std::uint32_t sum = static_cast<std::uint32_t>(c[m]);
    for (int k = 0; k < DIM_K; ++k)
      sum += static_cast<std::uint32_t>(std::int32_t(a[At::a(m, k)]) * b[k]);
    c[m] = static_cast<std::int32_t>(sum);
  }
}

struct Plain {
  static int a(int m, int k) { return m * DIM_K + k; }
};

struct Pairs {
  static int a(int m, int k) { return (k / 2 * DIM_M + m) * 2 + k % 2; }
};

void clear(std::int32_t *c) {
  for (int m = 0; m < DIM_M; ++m) c[m] = 0;
}

}  // namespace

extern "C" {
void matvec_scalar_i16_i32(const std::int16_t *a, const std::int16_t *b, std::int32_t *c) {
  multiply<Plain>(a, b, c);
}
void matvec_vectorized_i16_i32(const std::int16_t *a, const std::int16_t *b, std::int32_t *c) {
  static_assert(DIM_K % 2 == 0, "columns come in pairs");
  multiply<Pairs>(a, b, c);
}
void zero_scalar_i32(std::int32_t *c) { clear(c); }
void zero_vectorized_i32(std::int32_t *c) { clear(c); }
}
