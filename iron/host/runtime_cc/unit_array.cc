// One of the worker's two translation units: the array, and how it is read from a package. Most of
// the work of compiling is the C++ library's headers, so they are parsed twice, not twenty times.
#include "bd.cc"
#include "dma.cc"
#include "fiber.cc"
#include "fifo.cc"
#include "lock.cc"
#include "memory.cc"
#include "port.cc"
#include "race.cc"
#include "reader.cc"
#include "scheduler.cc"
#include "sequence.cc"
#include "wires.cc"
