// The AIE API with the interfaces of an ADF graph left out: kernels here have none.
#pragma once
#include "aie.hpp"
