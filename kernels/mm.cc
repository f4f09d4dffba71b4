// One tile of a matrix product, and the zeroing of its accumulator, from one source:
//   matmul_scalar: c[DIM_M][DIM_N] += a[DIM_M][DIM_K] * b[DIM_K][DIM_N], row-major
//   zero_scalar:   c = 0
// -DDIM_M, -DDIM_K, -DDIM_N give the extents (default 64); one of -DI8_I32, -DI16_I32 (default),
// -DI32_I32, -DF32_F32 gives the types of input and accumulator.
#include <cstdint>

#ifndef DIM_M
#define DIM_M 64
#endif
#ifndef DIM_K
#define DIM_K 64
#endif
#ifndef DIM_N
#define DIM_N 64
#endif

#if defined(I8_I32)
using input = std::int8_t;
using output = std::int32_t;
#elif defined(I32_I32)
using input = std::int32_t;
using output = std::int32_t;
#elif defined(F32_F32)
using input = float;
using output = float;
#else
using input = std::int16_t;
using output = std::int32_t;
#endif

extern "C" void zero_scalar(output *c) {
  for (int i = 0; i < DIM_M * DIM_N; ++i)
    c[i] = 0;
}

extern "C" void matmul_scalar(const input *a, const input *b, output *c) {
  for (int row = 0; row < DIM_M; ++row)
    for (int k = 0; k < DIM_K; ++k) {
      const output left = a[row * DIM_K + k];
      for (int column = 0; column < DIM_N; ++column)
        c[row * DIM_N + column] += left * static_cast<output>(b[k * DIM_N + column]);
    }
}
