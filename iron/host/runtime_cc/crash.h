// A crash in a kernel, or an order to stop one that does not end, becomes a report.
#pragma once

namespace iron {

void install_crash_handlers();

}  // namespace iron
