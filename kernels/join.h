// JOIN(a, b): the name a_b of what the macros a and b stand for.
#pragma once

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
