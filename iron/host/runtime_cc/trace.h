// A timeline of a run for Perfetto and chrome://tracing: what cores and DMA channels do and wait
// for, and how full fifos are. Time is the order of events, not the time of a device.
#pragma once
#include <string>

namespace iron {

struct Channel;
struct Fiber;
struct Lock;
struct Network;
struct Process;

extern bool tracing;

void trace_to(const std::string &path, const Network &n);
void trace_core_begin(const Fiber *f);
void trace_core_end(const Fiber *f);
void trace_transfer_begin(const Channel *c);
void trace_transfer_end(const Channel *c);
void trace_wait(const Process *p, const Lock *lock);  // lock null: the wait is over
void trace_level(const Lock *lock);
void trace_write();  // the file, with all runs so far

}  // namespace iron
