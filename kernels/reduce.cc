// Sum, least and greatest element of a tile of int32, and of bfloat16 for the greatest:
//   reduce_{add,min,max}_{scalar,vector}(in, out, count): out[0] of in[0..count)
//   reduce_max_{scalar,vector}_bfloat16(in, out, count)
//   compute_max[_bfloat16](a, b, out): out[0] = max(a[0], b[0])
// Sums wrap. Of nothing, the sum is 0, the least the greatest int32, the greatest the least value.
#include <aie_api/aie.hpp>

#include <limits>

namespace {

using i32 = std::int32_t;

void add(const i32 *in, i32 *out, i32 count) {
  std::uint32_t sum = 0;
  for (i32 i = 0; i < count; ++i) sum += static_cast<std::uint32_t>(in[i]);
  out[0] = static_cast<i32>(sum);
}

void least(const i32 *in, i32 *out, i32 count) {
  i32 found = std::numeric_limits<i32>::max();
  for (i32 i = 0; i < count; ++i) found = in[i] < found ? in[i] : found;
  out[0] = found;
}

void greatest(const i32 *in, i32 *out, i32 count) {
  i32 found = std::numeric_limits<i32>::min();
  for (i32 i = 0; i < count; ++i) found = in[i] > found ? in[i] : found;
  out[0] = found;
}

void greatest(const bfloat16 *in, bfloat16 *out, i32 count) {
  float found = -std::numeric_limits<float>::infinity();
  for (i32 i = 0; i < count; ++i) found = (float)in[i] > found ? (float)in[i] : found;
  out[0] = (bfloat16)found;
}

}  // namespace

extern "C" {
void reduce_add_scalar(const i32 *in, i32 *out, i32 count) { add(in, out, count); }
void reduce_add_vector(const i32 *in, i32 *out, i32 count) { add(in, out, count); }
void reduce_min_scalar(const i32 *in, i32 *out, i32 count) { least(in, out, count); }
void reduce_min_vector(const i32 *in, i32 *out, i32 count) { least(in, out, count); }
void reduce_max_scalar(const i32 *in, i32 *out, i32 count) { greatest(in, out, count); }
void reduce_max_vector(const i32 *in, i32 *out, i32 count) { greatest(in, out, count); }
void reduce_max_scalar_bfloat16(const bfloat16 *in, bfloat16 *out, i32 count) {
  greatest(in, out, count);
}
void reduce_max_vector_bfloat16(const bfloat16 *in, bfloat16 *out, i32 count) {
  greatest(in, out, count);
}
void compute_max(const i32 *a, const i32 *b, i32 *out) { out[0] = a[0] > b[0] ? a[0] : b[0]; }
void compute_max_bfloat16(const bfloat16 *a, const bfloat16 *b, bfloat16 *out) {
  out[0] = (float)a[0] > (float)b[0] ? a[0] : b[0];
}
}
