// A matrix product summed along the cores of a cascade, row-major tiles as in matmul.cc:
//   matmul_scalar_cascade_put_only_INPUT_OUTPUT: passes A * B on
//   matmul_scalar_cascade_put_get_INPUT_OUTPUT:  adds A * B to what comes in and passes it on
//   matmul_scalar_cascade_get_only_INPUT_OUTPUT: C += A * B + what comes in
//   zero_scalar_OUTPUT:                          C = 0
// -DDIM_M, -DDIM_K, -DDIM_N give the extents, -DINPUT=i16|bf16 and -DOUTPUT=i16|i32|bf16|f32 the
// elements.
#include "elements.h"
#include "stream.h"

namespace {

// One word in the first lane of what the stream carries at a time.
void put(sum value) {
  std::int32_t words[1];
  __builtin_memcpy(words, &value, 4);
  put_words(words);
}
sum get() {
  std::int32_t words[1];
  get_words(words);
  sum value;
  __builtin_memcpy(&value, words, 4);
  return value;
}

template <class Element> void each(const INPUT *a, const INPUT *b, Element &&element) {
  for (int m = 0; m < DIM_M; ++m)
    for (int n = 0; n < DIM_N; ++n) {
      sum total = 0;
      for (int k = 0; k < DIM_K; ++k)
        total += static_cast<sum>(a[m * DIM_K + k]) * static_cast<sum>(b[k * DIM_N + n]);
      element(m * DIM_N + n, total);
    }
}

}  // namespace

extern "C" {
void JOIN(matmul_scalar_cascade_put_only, JOIN(INPUT, OUTPUT))(const INPUT *a, const INPUT *b, OUTPUT *) {
  each(a, b, [](int, sum total) { put(total); });
}
void JOIN(matmul_scalar_cascade_put_get, JOIN(INPUT, OUTPUT))(const INPUT *a, const INPUT *b, OUTPUT *) {
  each(a, b, [](int, sum total) { put(total + get()); });
}
void JOIN(matmul_scalar_cascade_get_only, JOIN(INPUT, OUTPUT))(const INPUT *a, const INPUT *b, OUTPUT *c) {
  each(a, b, [c](int at, sum total) {
    c[at] = static_cast<OUTPUT>(static_cast<sum>(c[at]) + total + get());
  });
}
void JOIN(zero_scalar, OUTPUT)(OUTPUT *c) {
  for (int i = 0; i < DIM_M * DIM_N; ++i) c[i] = static_cast<OUTPUT>(0);
}
}
