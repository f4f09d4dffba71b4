// The worker: loads one design and runs it as often as its client asks.
//
//   worker PACKAGE SOCKET STATUS PARENT
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "channel_to_client.h"
#include "copy.h"
#include "crash.h"
#include "memory.h"
#include "network.h"
#include "race.h"
#include "report.h"
#include "status.h"
#include "trace.h"

namespace iron {

Status *status = nullptr;

namespace {

const Api kApi = {
    IRON_HOST_ABI,
    [](End *e, int32_t n) { return e->hold(n); },
    [](End *e, int64_t first, int32_t i) { return e->object(first, i); },
    [](End *e, int32_t n) { e->give(n); },
    [](Lock *l, int32_t value, int32_t exactly) { acquire(l, value, exactly != 0); },
    [](Lock *l, int32_t value) {
      IRON_CHECKED(race_release(Fiber::current, l));
      l->add(value);
    },
    [](Lock *l, int32_t value) {
      IRON_CHECKED(race_release(Fiber::current, l));
      l->set(value);
    },
    [] {
      scheduler.ready(Fiber::current);
      Fiber::suspend();
    },
    task_new,
    task_bd,
    task_lock,
    task_start,
    task_await,
    task_free,
    channel_wait,
    cascade_put,
    cascade_get,
    stream_put,
    stream_get,
    [](int32_t) {},
    device_load,
    core_reset,
    channel_reset,
#ifdef IRON_RACE
    race_touch,
    race_call,
    race_return,
#else
    nullptr,
    nullptr,
    nullptr,
#endif
    [](const char *message) {
      const Core *core = static_cast<const Core *>(Fiber::current);
      fail(core->name + ": " + message + "\n  at " + core->site());
    },
};

// Leave when the client does, also in the middle of a kernel that never ends. A forked child of
// the client may hold its socket open, so the parent's id is watched as well.
void *watch_client(void *parent_id) {
  auto parent = (pid_t)(intptr_t)parent_id;
  pollfd p{client.socket, POLLHUP, 0};
  for (;;) {
    p.events = POLLHUP;
    poll(&p, 1, 500);
    if ((p.revents & (POLLHUP | POLLERR)) || (parent > 0 && getppid() != parent)) _exit(0);
    if (p.revents) usleep(200000);  // data: not ours to read
  }
}

std::string set_arguments(Sequence &s, const uint8_t *payload, size_t size) {
  size_t count = size / sizeof(WireArgument);
  if (count != s.parameters.size())
    return "the sequence takes " + std::to_string(s.parameters.size()) + " arguments, not " +
           std::to_string(count);
  s.arguments.clear();
  s.segments.clear();
  for (size_t i = 0; i < count; i++) {
    WireArgument w;
    std::memcpy(&w, payload + i * sizeof w, sizeof w);
    const Parameter &p = s.parameters[i];
    Argument a{nullptr, w.bytes, w.integer, w.real};
    if (p.scalar != (w.kind != 0))
      return "argument " + std::to_string(i) + " must be " + (p.scalar ? "a number" : "memory");
    if (w.kind == 0) {
      a.data = memory.at(w.segment, (size_t)w.offset, (size_t)w.bytes);
      if (!a.data) return "argument " + std::to_string(i) + " lies outside its memory";
      if (p.bytes >= 0 && w.bytes < p.bytes)
        return "argument " + std::to_string(i) + " has " + std::to_string(w.bytes) +
               " bytes, the design asks for " + std::to_string(p.bytes);
    }
    s.arguments.push_back(a);
    s.segments.push_back(w.kind == 0 ? w.segment : -1);
  }
  s.context.arguments = s.arguments.data();
  return "";
}

// False: the worker cannot be used again.
bool run(Network &n, bool watched, const uint8_t *payload, size_t size) {
  status->begun = (status->begun + 1) & 0x7FFFFFFF;
  std::string why = set_arguments(n.sequence, payload, size);
  if (!why.empty()) {
    client.send(kFailed, why);
    return false;
  }
  n.copy_external(true);
  scheduler.stop = false;
  scheduler.steps = 0;
  n.sequence.context.site = 0;
  n.sequence.start(n.sequence.body, 1 << 20);
  scheduler.run();
  settle();
  if (tracing) trace_write();
#ifdef IRON_RACE
  std::string races = race_report();
  if (!races.empty()) {
    client.send(kRace, races);
    return false;
  }
#endif
  if (!scheduler.failure.empty()) {
    client.send(kFailed, scheduler.failure);
    return false;
  }
  if (!n.sequence.done) {
    client.send(kDeadlock, deadlock_report(n));
    return false;
  }
  n.copy_external(false);
  std::string unfinished = unfinished_transfers(n);
  drop_finished_tasks();
  return client.answer(watched, scheduler.steps, unfinished);
}

// Of "seed:N"; 0 when it is written otherwise.
uint64_t seed_of(const std::string &text) {
  char *end = nullptr;
  if (text.rfind("seed:", 0) != 0 || text.size() == 5) return 0;
  uint64_t n = std::strtoull(text.c_str() + 5, &end, 0);
  return *end ? 0 : n * 0x9E3779B97F4A7C15u + 0x2545F4914F6CDD1Du;
}

int serve(Network &n) {
  uint32_t kind;
  const uint8_t *payload;
  size_t size;
  int descriptor;
  while (client.receive(kind, payload, size, descriptor)) {
    int32_t id = 0;
    if (size >= 4) std::memcpy(&id, payload, 4);
    if (kind == kSegment) {
      int64_t bytes;
      std::memcpy(&bytes, payload + 4, 8);
      if (descriptor < 0 || !memory.add(id, descriptor, (size_t)bytes)) {
        client.send(kFailed, "cannot map shared memory");
        return 1;
      }
    } else if (kind == kDrop) {
      memory.drop(id);
    } else if (kind == kRun || kind == kRunWatched) {
      if (!run(n, kind == kRunWatched, payload, size)) return 1;
    } else if (kind == kTell) {
      client.tell();
    }
  }
  return 0;
}

}  // namespace
}  // namespace iron

int main(int argc, char **argv) {
  using namespace iron;
  if (argc != 5) {
    std::fprintf(stderr, "usage: worker PACKAGE SOCKET STATUS PARENT\n");
    return 2;
  }
  client.socket = std::atoi(argv[2]);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGINT, SIG_IGN);  // the client decides what an interrupt means
  void *page = mmap(nullptr, sizeof(Status), PROT_READ | PROT_WRITE, MAP_SHARED, std::atoi(argv[3]), 0);
  static Status own;
  status = page == MAP_FAILED ? &own : (Status *)page;
  status->running = -1;
  pthread_t watcher;
  pthread_create(&watcher, nullptr, watch_client, (void *)(intptr_t)std::atoi(argv[4]));

  if (const char *schedule = std::getenv("IRON_HOST_SCHEDULE"); schedule && *schedule) {
    scheduler.seed = seed_of(schedule);
    if (!scheduler.seed) {
      client.send(kFailed, std::string("IRON_HOST_SCHEDULE=") + schedule + ": write it as seed:N");
      return 1;
    }
  }
  Network &n = *new Network;  // never destroyed: a kernel may call exit() on a fiber's stack
  network = &n;
  sequence = &n.sequence;
  install_crash_handlers();
  std::string why = n.read(argv[1]);
  if (why.empty()) why = n.load(&kApi);
  if (!why.empty()) {
    client.send(kFailed, why);
    return 1;
  }
  if (const char *file = std::getenv("IRON_HOST_TRACE"); file && *file) trace_to(file, n);
  client.send(kReady, "");
  int code = serve(n);
  std::fflush(nullptr);  // what kernels printed
  _exit(code);
}
