// Functions of neural networks on bfloat16, TILE_SIZE elements at a time (default 1024):
//   softmax_bf16(in, out, n): over the n elements together
//   gelu_bf16(in, out), in its approximation by tanh; silu_bf16(in, out), x * sigmoid(x)
//   swiglu_bf16(in, w1, w2, out), (in * w1) * silu(in * w2)
//   exp_bf16_TILE_SIZE(in, out); what is too large for bfloat16 becomes infinite
// Computed in float, each result rounded once. The exponential is our own: not every target has a
// mathematical library.
#include <aie_api/aie.hpp>

#include "join.h"

#ifndef TILE_SIZE
#define TILE_SIZE 1024
#endif

namespace {

// 2^(x / ln 2), as a whole power of two times a polynomial on [-ln 2 / 2, ln 2 / 2]: Taylor's, whose
// first term left out is below 2e-7 there.
float exponential(float x) {
  if (x != x) return x;
  if (x > 89.0f) x = 89.0f;    // beyond the greatest float: infinite
  if (x < -104.0f) x = -104.0f;  // below the smallest: zero
  const float steps = x * 1.44269504f;
  const int whole = static_cast<int>(steps < 0.0f ? steps - 0.5f : steps + 0.5f);
  const float r = (x - whole * 0.693145752f) - whole * 1.42860677e-6f;
  float y = 1.0f / 720.0f;
  y = y * r + 1.0f / 120.0f;
  y = y * r + 1.0f / 24.0f;
  y = y * r + 1.0f / 6.0f;
  y = y * r + 0.5f;
  y = y * r + 1.0f;
  y = y * r + 1.0f;
  // In two halves, since neither the greatest nor the smallest power is a float by itself.
  const int half = whole / 2;
  auto power = [](int n) {
    const std::int32_t bits = (n + 127) << 23;
    float value;
    __builtin_memcpy(&value, &bits, 4);
    return value;
  };
  return y * power(half) * power(whole - half);
}

float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }

template <class Function> void each(const bfloat16 *in, bfloat16 *out, Function &&f) {
  for (int i = 0; i < TILE_SIZE; ++i)
    out[i] = static_cast<bfloat16>(f(static_cast<float>(in[i])));
}

}  // namespace

extern "C" {
void softmax_bf16(const bfloat16 *in, bfloat16 *out, std::int32_t n) {
  float most = static_cast<float>(in[0]);
  for (int i = 1; i < n; ++i)
    if (static_cast<float>(in[i]) > most) most = static_cast<float>(in[i]);
  float total = 0.0f;
  for (int i = 0; i < n; ++i) total += exponential(static_cast<float>(in[i]) - most);
  for (int i = 0; i < n; ++i)
    out[i] = static_cast<bfloat16>(exponential(static_cast<float>(in[i]) - most) / total);
}
void gelu_bf16(const bfloat16 *in, bfloat16 *out) {
  // 0.5 (1 + tanh y) is sigmoid(2 y); 0.79788456 is sqrt(2 / pi).
  each(in, out, [](float x) {
    return x * sigmoid(2.0f * 0.79788456f * (x + 0.044715f * x * x * x));
  });
}
void silu_bf16(const bfloat16 *in, bfloat16 *out) {
  each(in, out, [](float x) { return x * sigmoid(x); });
}
void swiglu_bf16(const bfloat16 *in, const bfloat16 *w1, const bfloat16 *w2, bfloat16 *out) {
  for (int i = 0; i < TILE_SIZE; ++i) {
    const float x = static_cast<float>(in[i]), gate = x * static_cast<float>(w2[i]);
    out[i] = static_cast<bfloat16>(x * static_cast<float>(w1[i]) * gate * sigmoid(gate));
  }
}
void JOIN(exp_bf16, TILE_SIZE)(const bfloat16 *in, bfloat16 *out) { each(in, out, exponential); }
}
