// The AIE API on the host: same names and values, in plain C++.
//
// Integers are exact in every mode; reals are computed in float (see elementary.hpp). What is not
// there is an error when compiled, never another value.
#pragma once
#include "../aie_kernel_utils.h"
#include "../iron_host.h"
#include "../iron_kernel.h"

#include "arithmetic.hpp"
#include "compare.hpp"
#include "elementary.hpp"
#include "intrinsics.hpp"
#include "iterator.hpp"
#include "lut.hpp"
#include "mmul.hpp"
#include "reshape.hpp"
#include "sliding.hpp"
