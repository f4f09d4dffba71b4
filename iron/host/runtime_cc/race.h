// The race check: two uses of the same memory of a tile, one of them a write, that no lock, stream or
// task orders. Only in workers compiled for it (IRON_HOST_CHECK=race).
//
// Happened-before by vector clocks: a release hands what a process knows to the lock, an acquire
// takes it over (Lamport; Mattern). A kernel's reads and writes are told apart by what changed.
#pragma once
#include <cstdint>
#include <string>

#ifdef IRON_RACE
#define IRON_CHECKED(statement) statement
#else
#define IRON_CHECKED(statement) ((void)0)
#endif

namespace iron {

struct Bd;
struct Channel;
struct Process;
struct Task;

void race_release(const Process *p, const void *through);  // a lock, a task, a cascade
void race_acquire(const Process *p, const void *through);
void race_passed(const Process *from, const Process *to);  // data or a token went from one to another
void race_begin(const Channel *c, const Task *task);
void race_transferred(const Channel *c, const Bd &bd);
void race_touch(const void *at, int64_t bytes, int32_t writes);  // by the running fiber
void race_call(const void *at, int64_t bytes);  // memory handed to a kernel that is called next
void race_return();                             // it has come back
std::string race_report();                      // empty: none found

}  // namespace iron
