// Elements of a matrix product: the words INPUT and OUTPUT may be, what products are summed in, and
// the extents DIM_M, DIM_K, DIM_N.
#pragma once
#include <aie_api/aie.hpp>

#include "join.h"

#ifndef DIM_M
#define DIM_M 64
#endif
#ifndef DIM_K
#define DIM_K 64
#endif
#ifndef DIM_N
#define DIM_N 64
#endif
#ifndef INPUT
#define INPUT i16
#endif
#ifndef OUTPUT
#define OUTPUT i32
#endif

namespace {

using i8 [[maybe_unused]] = std::int8_t;
using i16 [[maybe_unused]] = std::int16_t;
using i32 [[maybe_unused]] = std::int32_t;
using bf16 [[maybe_unused]] = bfloat16;
using f32 [[maybe_unused]] = float;

template <class X> struct Sum { using type = std::uint32_t; };  // wraps
template <> struct Sum<f32> { using type = float; };
template <> struct Sum<bf16> { using type = float; };
using sum = Sum<OUTPUT>::type;

}  // namespace
