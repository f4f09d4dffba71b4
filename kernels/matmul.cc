// One tile of a matrix product, C += A * B, and the zeroing of its accumulator:
//   matmul_scalar_IN_OUT, zero_scalar_OUT: row-major matrices of DIM_M x DIM_K, DIM_K x DIM_N
//   matmul_IN_OUT, zero_OUT:               the same in blocks of R x S, S x T and R x T elements,
//                                          blocks and their elements row-major
// -DDIM_M, -DDIM_K, -DDIM_N and -DR, -DS, -DT give the extents, -DIN=i8|i16|bf16 and
// -DOUT=i8|i16|i32|bf16|f32 the elements. -DB_COL_MAJ and -DC_COL_MAJ: that matrix is column-major,
// its blocks as well. Integers wrap; floats are summed in float and rounded once per call.
#include <aie_api/aie.hpp>

#ifndef DIM_M
#define DIM_M 64
#endif
#ifndef DIM_K
#define DIM_K 64
#endif
#ifndef DIM_N
#define DIM_N 64
#endif
#ifndef IN
#define IN i16
#endif
#ifndef OUT
#define OUT i32
#endif
#ifndef R
#define R 4
#define S 4
#define T 4
#endif

namespace {

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using bf16 = bfloat16;
using f32 = float;

template <class X> struct Sum { using type = std::uint32_t; };  // wraps
template <> struct Sum<f32> { using type = float; };
template <> struct Sum<bf16> { using type = float; };
using sum = Sum<OUT>::type;

constexpr int M = DIM_M, K = DIM_K, N = DIM_N;

// Where the element of a row and column is in a matrix of ROWS x COLUMNS in blocks of H x W.
template <int ROWS, int COLUMNS, int H, int W> constexpr int in_blocks(int row, int column) {
  return ((row / H) * (COLUMNS / W) + column / W) * H * W + (row % H) * W + column % W;
}

struct Plain {
  static int a(int m, int k) { return m * K + k; }
#ifdef B_COL_MAJ
  static int b(int k, int n) { return n * K + k; }
#else
  static int b(int k, int n) { return k * N + n; }
#endif
#ifdef C_COL_MAJ
  static int c(int m, int n) { return n * M + m; }
#else
  static int c(int m, int n) { return m * N + n; }
#endif
};

struct Blocks {
  static int a(int m, int k) { return in_blocks<M, K, R, S>(m, k); }
#ifdef B_COL_MAJ
  static int b(int k, int n) { return in_blocks<N, K, T, S>(n, k); }
#else
  static int b(int k, int n) { return in_blocks<K, N, S, T>(k, n); }
#endif
#ifdef C_COL_MAJ
  static int c(int m, int n) { return in_blocks<N, M, T, R>(n, m); }
#else
  static int c(int m, int n) { return in_blocks<M, N, R, T>(m, n); }
#endif
};

template <class At> void multiply(const IN *a, const IN *b, OUT *c) {
  for (int m = 0; m < M; ++m) {
    sum row[N] = {};
    for (int k = 0; k < K; ++k) {
      const sum left = static_cast<sum>(a[At::a(m, k)]);
      for (int n = 0; n < N; ++n) row[n] += left * static_cast<sum>(b[At::b(k, n)]);
    }
    for (int n = 0; n < N; ++n) {
      OUT &result = c[At::c(m, n)];
      result = static_cast<OUT>(static_cast<sum>(result) + row[n]);
    }
  }
}

void clear(OUT *c) {
  for (int i = 0; i < M * N; ++i) c[i] = static_cast<OUT>(0);
}

}  // namespace

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)

extern "C" {
void JOIN(matmul, JOIN(IN, OUT))(const IN *a, const IN *b, OUT *c) {
  static_assert(M % R == 0 && K % S == 0 && N % T == 0, "the tile is no multiple of the blocks");
  multiply<Blocks>(a, b, c);
}
void JOIN(matmul_scalar, JOIN(IN, OUT))(const IN *a, const IN *b, OUT *c) {
  multiply<Plain>(a, b, c);
}
void JOIN(zero, OUT)(OUT *c) { clear(c); }
void JOIN(zero_scalar, OUT)(OUT *c) { clear(c); }
}
