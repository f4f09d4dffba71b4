// What a core body, the runtime sequence and kernels see of the emulator.
//
// An image (the shared object of some bodies and the kernels they call) talks to the worker only
// through `iron_api`, a table of functions the worker fills in when it loads the image. So an
// image needs no symbol of the worker, and no symbol of one image can meet one of another.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "iron_elem.h"
#include "iron_vector.h"

#define IRON_HOST_ABI 2

namespace iron {

struct End;      // one side of an ObjectFifo, as a core holds it
struct Lock;     // a counting lock
struct Channel;  // a DMA channel
struct Task;     // buffer descriptors queued on a channel

// An argument of the runtime sequence: memory, or a number.
struct Argument {
  void *data;
  int64_t bytes;
  int64_t integer;
  double real;
};

// The resources of one body under local numbers, so that equal bodies are one function.
struct Context {
  End *const *ends;
  void *const *buffers;
  Lock *const *locks;
  Channel *const *channels;
  const Argument *arguments;
  int32_t site;  // number of the source line being executed, for reports
};

// A buffer descriptor as the runtime sequence writes it; counts are in elements.
struct TaskBd {
  void *base;
  int64_t offset, length;
  int32_t element, rank;  // bytes per element, number of dimensions
  int64_t sizes[4], strides[4];
  int32_t before[4], after[4];  // padding
  int64_t iteration_size, iteration_stride;
  int32_t packet, packet_type;  // packet < 0: none
  int32_t next;                 // index in the task, -1 ends it

  // The next dimension, outermost first.
  TaskBd dim(int64_t size, int64_t stride, int32_t pad_before = 0, int32_t pad_after = 0) const {
    TaskBd b = *this;
    b.sizes[rank] = size;
    b.strides[rank] = stride;
    b.before[rank] = pad_before;
    b.after[rank] = pad_after;
    b.rank++;
    return b;
  }
  // What is added to the offset from execution to execution, `size` times.
  TaskBd iterate(int64_t size, int64_t stride) const {
    TaskBd b = *this;
    b.iteration_size = size;
    b.iteration_stride = stride;
    return b;
  }
  TaskBd send_as(int32_t id, int32_t type) const {
    TaskBd b = *this;
    b.packet = id;
    b.packet_type = type;
    return b;
  }
  TaskBd then(int32_t index) const {
    TaskBd b = *this;
    b.next = index;
    return b;
  }
};

template <class T> TaskBd bd(T *base, int64_t offset, int64_t length) {
  TaskBd b = {};
  b.base = base;
  b.offset = offset;
  b.length = length;
  b.element = (int32_t)sizeof(T);
  b.packet = b.next = -1;
  return b;
}

struct Api {
  int32_t abi;
  int64_t (*fifo_acquire)(End *, int32_t count);  // slot of the first held object
  void *(*fifo_object)(End *, int64_t first, int32_t index);
  void (*fifo_release)(End *, int32_t count);
  void (*lock_acquire)(Lock *, int32_t value, int32_t exact);
  void (*lock_release)(Lock *, int32_t value);
  void (*lock_set)(Lock *, int32_t value);
  void (*yield)();
  Task *(*task_new)(Channel *, int32_t repeat, int32_t token);
  void (*task_bd)(Task *, const TaskBd *);
  void (*task_lock)(Task *, Lock *, int32_t value, int32_t action);  // 0 exact, 1 release, 2 >=
  void (*task_start)(Task *);
  void (*task_await)(Task *);
  void (*task_free)(Task *);
  void (*channel_wait)(Channel *);
  void (*cascade_put)(const void *, int32_t bytes);
  void (*cascade_get)(void *, int32_t bytes);
  void (*stream_put)(int32_t port, const void *, int32_t bytes, int32_t last);
  void (*stream_get)(int32_t port, void *, int32_t bytes);
  void (*event)(int32_t which);
  void (*device_load)(int32_t number, int32_t afresh);
  void (*core_reset)(const char *tile);
  void (*channel_reset)(Channel *, int32_t restart);
  void (*touch)(const void *, int64_t bytes, int32_t writes);  // these three: race check only
  void (*call_begin)(const void *, int64_t bytes);
  void (*call_end)();
  void (*fail)(const char *message);
};

}  // namespace iron

extern "C" const iron::Api *iron_api;

// Once in every image.
#define IRON_IMAGE                                                                            \
  extern "C" __attribute__((visibility("default"))) const iron::Api *iron_api = nullptr;      \
  extern "C" __attribute__((visibility("hidden"))) void iron_mark(int which) {                \
    iron_api->event(which);                                                                   \
  }

// A kernel is declared under a name of ours and bound to its symbol, so that no kernel name can
// clash with a declaration of the C library ("index", "round").
#define IRON_TEXT_(x) #x
#define IRON_TEXT(x) IRON_TEXT_(x)
#define IRON_SYMBOL(name) __asm__(IRON_TEXT(__USER_LABEL_PREFIX__) name)

namespace iron {

// ---- core bodies
inline int64_t acquire(Context &c, int end, int32_t count, int32_t site) {
  c.site = site;
  return iron_api->fifo_acquire(c.ends[end], count);
}
template <class T> T *object(Context &c, int end, int64_t first, int32_t index) {
  return (T *)iron_api->fifo_object(c.ends[end], first, index);
}
inline void release(Context &c, int end, int32_t count, int32_t site) {
  c.site = site;
  iron_api->fifo_release(c.ends[end], count);
}
inline void acquire_equal(Context &c, int lock, int32_t value, int32_t site) {
  c.site = site;
  iron_api->lock_acquire(c.locks[lock], value, 1);
}
inline void acquire_at_least(Context &c, int lock, int32_t value, int32_t site) {
  c.site = site;
  iron_api->lock_acquire(c.locks[lock], value, 0);
}
inline void release_lock(Context &c, int lock, int32_t value) {
  iron_api->lock_release(c.locks[lock], value);
}
// Stops the run when a condition of the design does not hold.
inline void check(bool holds, const char *message) {
  if (!holds) iron_api->fail(message);
}
template <class T> T *buffer(Context &c, int index) { return (T *)c.buffers[index]; }
inline void yield() { iron_api->yield(); }
// For the race check: memory the body uses, and memory it hands to a kernel.
inline void touch(Context &c, const void *at, int64_t bytes, bool writes, int32_t site) {
  c.site = site;
  iron_api->touch(at, bytes, writes);
}
inline void hand(Context &c, const void *at, int64_t bytes, int32_t site) {
  c.site = site;
  iron_api->call_begin(at, bytes);
}
inline void returned() { iron_api->call_end(); }

// ---- the runtime sequence
template <class T> T *argument(Context &c, int index) { return (T *)c.arguments[index].data; }
template <class T> T integer(Context &c, int index) { return (T)c.arguments[index].integer; }
template <class T> T real(Context &c, int index) { return (T)c.arguments[index].real; }
inline void set_lock(Context &c, int lock, int32_t value) {
  iron_api->lock_set(c.locks[lock], value);
}
inline int64_t new_task(Context &c, int channel, int32_t repeat, bool token, int32_t site) {
  c.site = site;
  return (int64_t)(intptr_t)iron_api->task_new(c.channels[channel], repeat, token);
}
inline void add_bd(int64_t task, const TaskBd &bd) {
  iron_api->task_bd((Task *)(intptr_t)task, &bd);
}
inline void add_lock(Context &c, int64_t task, int lock, int32_t value, int32_t action) {
  iron_api->task_lock((Task *)(intptr_t)task, c.locks[lock], value, action);
}
inline void start(Context &c, int64_t task, int32_t site) {
  c.site = site;
  iron_api->task_start((Task *)(intptr_t)task);
}
inline void await(Context &c, int64_t task, int32_t site) {
  c.site = site;
  iron_api->task_await((Task *)(intptr_t)task);
}
inline void free_task(int64_t task) { iron_api->task_free((Task *)(intptr_t)task); }
inline void wait(Context &c, int channel, int32_t site) {
  c.site = site;
  iron_api->channel_wait(c.channels[channel]);
}

// Another device takes the array; `afresh` also when it has it already.
inline void load_device(Context &c, int32_t number, bool afresh, int32_t site) {
  c.site = site;
  iron_api->device_load(number, afresh);
}
inline void reset_core(Context &c, const char *tile, int32_t site) {
  c.site = site;
  iron_api->core_reset(tile);
}
// Drop what a channel does and has queued, or queue again what it does from the start.
inline void reset_channel(Context &c, int channel, bool restart) {
  iron_api->channel_reset(c.channels[channel], restart);
}

// ---- arithmetic that C++ spells differently from MLIR
template <class To, class From> To bit_cast(const From &x) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To y;
  std::memcpy(&y, &x, sizeof y);
  return y;
}
template <class T> T floor_div(T a, T b) { return (T)(a / b - ((a % b != 0) & ((a < 0) != (b < 0)))); }
template <class T> T ceil_div(T a, T b) { return (T)(a / b + ((a % b != 0) & ((a < 0) == (b < 0)))); }
template <class T> T modulo(T a, T b) { return (T)(a - floor_div(a, b) * b); }
template <class T> T larger(T a, T b) { return a > b ? a : b; }
template <class T> T smaller(T a, T b) { return a < b ? a : b; }
template <class T> T maximum(T a, T b) {  // NaN wins
  return (float)a != (float)a ? a : (float)b != (float)b ? b : (a > b ? a : b);
}
template <class T> T minimum(T a, T b) {
  return (float)a != (float)a ? a : (float)b != (float)b ? b : (a < b ? a : b);
}
template <class T> T maxnum(T a, T b) {  // NaN loses
  return (float)a != (float)a ? b : (float)b != (float)b ? a : (a > b ? a : b);
}
template <class T> T minnum(T a, T b) {
  return (float)a != (float)a ? b : (float)b != (float)b ? a : (a < b ? a : b);
}

}  // namespace iron
