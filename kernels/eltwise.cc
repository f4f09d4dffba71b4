// Element by element, in bfloat16, on TILE_SIZE elements (default 1024):
//   eltwise_{add,mul}_bf16_{scalar,vector}(a, b, out), bf16_relu(in, out)
// Each result is rounded once, to nearest even.
#include <aie_api/aie.hpp>

#ifndef TILE_SIZE
#define TILE_SIZE 1024
#endif

namespace {

void add(const bfloat16 *a, const bfloat16 *b, bfloat16 *out) {
  for (int i = 0; i < TILE_SIZE; ++i) out[i] = (bfloat16)((float)a[i] + (float)b[i]);
}

void multiply(const bfloat16 *a, const bfloat16 *b, bfloat16 *out) {
  for (int i = 0; i < TILE_SIZE; ++i) out[i] = (bfloat16)((float)a[i] * (float)b[i]);
}

}  // namespace

extern "C" {
void eltwise_add_bf16_scalar(const bfloat16 *a, const bfloat16 *b, bfloat16 *out) { add(a, b, out); }
void eltwise_add_bf16_vector(const bfloat16 *a, const bfloat16 *b, bfloat16 *out) { add(a, b, out); }
void eltwise_mul_bf16_scalar(const bfloat16 *a, const bfloat16 *b, bfloat16 *out) {
  multiply(a, b, out);
}
void eltwise_mul_bf16_vector(const bfloat16 *a, const bfloat16 *b, bfloat16 *out) {
  multiply(a, b, out);
}
void bf16_relu(const bfloat16 *in, bfloat16 *out) {
  for (int i = 0; i < TILE_SIZE; ++i) out[i] = (float)in[i] > 0.0f ? in[i] : (bfloat16)0.0f;
}
}
