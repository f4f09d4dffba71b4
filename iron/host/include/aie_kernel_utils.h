// Some kernels take the loop hints from here.
#pragma once
#include "aie_api/aie.hpp"
