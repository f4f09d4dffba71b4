// What people read when a run cannot go on, and what a finished run left undone.
#pragma once
#include <string>

#include "network.h"

namespace iron {

std::string deadlock_report(const Network &n);
std::string unfinished_transfers(const Network &n);  // one line each

}  // namespace iron
