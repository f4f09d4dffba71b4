// One tile of a matrix product, C += A * B, and the zeroing of its accumulator:
//   matmul_scalar_INPUT_OUTPUT, zero_scalar_OUTPUT: row-major matrices
//   matmul_INPUT_OUTPUT, zero_OUTPUT: matrices in blocks, blocks and their elements row-major
// -DDIM_M, -DDIM_K, -DDIM_N and -DBLOCK_M, -DBLOCK_K, -DBLOCK_N give the extents of matrices and
// blocks, -DINPUT=i8|i16|bf16 and -DOUTPUT=i8|i16|i32|bf16|f32 the elements. -DB_COL_MAJ and
// -DC_COL_MAJ: that matrix is column-major, its blocks as well. Integers wrap; floats are summed in
// float and rounded once per call.
#include "elements.h"

#ifndef BLOCK_M
#define BLOCK_M 4
#define BLOCK_K 4
#define BLOCK_N 4
#endif

namespace {

constexpr int M = DIM_M, K = DIM_K, N = DIM_N;

// Row-major, unless the matrix is said to be column-major.
void multiply(const INPUT *a, const INPUT *b, OUTPUT *c) {
  for (int m = 0; m < M; ++m) {
    sum row[N] = {};
    for (int k = 0; k < K; ++k) {
      const sum left = static_cast<sum>(a[m * K + k]);
      for (int n = 0; n < N; ++n)
#ifdef B_COL_MAJ
        row[n] += left * static_cast<sum>(b[n * K + k]);
#else
        row[n] += left * static_cast<sum>(b[k * N + n]);
#endif
    }
    for (int n = 0; n < N; ++n) {
#ifdef C_COL_MAJ
      OUTPUT &result = c[n * M + m];
#else
      OUTPUT &result = c[m * N + n];
#endif
      result = static_cast<OUTPUT>(static_cast<sum>(result) + row[n]);
    }
  }
}

// The same in blocks of R x S, S x T and R x T elements; blocks of a column-major matrix follow each
// other down its columns, and are transposed themselves.
constexpr int R = BLOCK_M, S = BLOCK_K, T = BLOCK_N;

void multiply_block(const INPUT *a, const INPUT *b, sum (&total)[R][T]) {
  for (int r = 0; r < R; ++r)
    for (int s = 0; s < S; ++s) {
      const sum left = static_cast<sum>(a[r * S + s]);
      for (int t = 0; t < T; ++t)
#ifdef B_COL_MAJ
        total[r][t] += left * static_cast<sum>(b[t * S + s]);
#else
        total[r][t] += left * static_cast<sum>(b[s * T + t]);
#endif
    }
}

void multiply_blocks(const INPUT *a, const INPUT *b, OUTPUT *c) {
  constexpr int rows = M / R, inner = K / S, columns = N / T;
  for (int m = 0; m < rows; ++m)
    for (int n = 0; n < columns; ++n) {
      sum total[R][T] = {};
      for (int k = 0; k < inner; ++k) {
#ifdef B_COL_MAJ
        const INPUT *right = b + (n * inner + k) * S * T;
#else
        const INPUT *right = b + (k * columns + n) * S * T;
#endif
        multiply_block(a + (m * inner + k) * R * S, right, total);
      }
      for (int r = 0; r < R; ++r)
        for (int t = 0; t < T; ++t) {
#ifdef C_COL_MAJ
          OUTPUT &result = c[(n * rows + m) * R * T + t * R + r];
#else
          OUTPUT &result = c[(m * columns + n) * R * T + r * T + t];
#endif
          result = static_cast<OUTPUT>(static_cast<sum>(result) + total[r][t]);
        }
    }
}

void clear(OUTPUT *c) {
  for (int i = 0; i < M * N; ++i) c[i] = static_cast<OUTPUT>(0);
}

}  // namespace

extern "C" {
void JOIN(matmul, JOIN(INPUT, OUTPUT))(const INPUT *a, const INPUT *b, OUTPUT *c) {
  static_assert(M % R == 0 && K % S == 0 && N % T == 0, "the tile is no multiple of the blocks");
  multiply_blocks(a, b, c);
}
void JOIN(matmul_scalar, JOIN(INPUT, OUTPUT))(const INPUT *a, const INPUT *b, OUTPUT *c) {
  multiply(a, b, c);
}
void JOIN(zero, OUTPUT)(OUTPUT *c) { clear(c); }
void JOIN(zero_scalar, OUTPUT)(OUTPUT *c) { clear(c); }
}
