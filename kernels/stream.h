// The cascade between neighbouring cores carries 512 bits at a time: words of it, in its first lanes.
#pragma once
#include <aie_api/aie.hpp>

namespace {

template <int N> void put_words(const std::int32_t (&words)[N]) {
  v16int32 lanes = undef_v16int32();
  for (int i = 0; i < N; ++i) lanes = upd_elem(lanes, i, words[i]);
  put_mcd(lanes);
}

template <int N> void get_words(std::int32_t (&words)[N]) {
  const v16int32 lanes = get_scd_v16int32();
  for (int i = 0; i < N; ++i) words[i] = ext_elem(lanes, static_cast<unsigned>(i));
}

}  // namespace
