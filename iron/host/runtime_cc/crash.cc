#include "crash.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "asan.h"
#include "channel_to_client.h"
#include "network.h"

#if defined(__has_include)
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define IRON_BACKTRACE 1
#endif
#endif

namespace iron {
namespace {

const char *signal_name(int number) {
  switch (number) {
    case SIGSEGV: return "SIGSEGV (bad memory access)";
    case SIGBUS: return "SIGBUS (bad memory access)";
    case SIGFPE: return "SIGFPE (arithmetic fault, such as a division by zero)";
    case SIGILL: return "SIGILL (illegal instruction)";
    case SIGABRT: return "SIGABRT (abort)";
  }
  return "a signal";
}

// Functions of images on the stack, innermost first; one that calls itself only once.
std::string frames() {
  std::string out, last;
  int times = 0;
  auto end_of_run = [&] {
    if (times > 0) out += "  in " + last + (times > 1 ? " (" + std::to_string(times) + " times)\n" : "\n");
    times = 0;
  };
#ifdef IRON_BACKTRACE
  void *stack[48];
  int n = backtrace(stack, 48);
  for (int i = 0; i < n; i++) {
    Dl_info info;
    if (!dladdr(stack[i], &info) || !info.dli_sname || !info.dli_fname) continue;
    std::string file = info.dli_fname;
    bool image = file.rfind("/proc/self/fd/", 0) == 0 || file.find("iron-image-") != std::string::npos ||
                 (network && file.rfind(network->directory, 0) == 0 &&
                  file.size() > 3 && file.substr(file.size() - 3) == ".so");
    if (!image) continue;
    if (last != info.dli_sname) end_of_run();
    last = info.dli_sname;
    times++;
  }
#endif
  end_of_run();
  return out;
}

void on_signal(int number, siginfo_t *info, void *) {
  signal(number, SIG_DFL);
  Fiber *f = Fiber::current;
  std::string who = f ? f->name : "the emulator itself", text;
  if (number == SIGUSR1) {
    text = who + " was running when the time was up\n";
  } else if (f && (number == SIGSEGV || number == SIGBUS) && f->guards(info->si_addr)) {
    text = "stack overflow in " + who + "\n";
  } else {
    text = std::string(signal_name(number)) + " in " + who + "\n";
  }
  text += frames();
  if (f) {
    std::string site = static_cast<Core *>(f)->site();
    if (!site.empty()) text += "  last at " + site + "\n";
  }
  client.send(kCrash, text);
  _exit(3);
}

#ifdef IRON_ASAN
// The sanitizer has found something: its report, and whose doing it was.
void on_report(const char *report) {
  Fiber *f = Fiber::current;
  std::string text = "bad memory access in " + (f ? f->name : std::string("the emulator itself")) + "\n";
  if (f) {
    std::string site = static_cast<Core *>(f)->site();
    if (!site.empty()) text += "  last at " + site + "\n";
  }
  client.send(kCrash, text + report);
  _exit(3);
}
#endif

}  // namespace

#ifdef IRON_ASAN
extern "C" const char *__asan_default_options() { return "detect_leaks=0:abort_on_error=0"; }
#endif

void install_crash_handlers() {
#ifdef IRON_ASAN
  __asan_set_error_report_callback(on_report);
#endif
#ifdef IRON_BACKTRACE
  void *warm[1];
  backtrace(warm, 1);  // loads what it needs now and not in a handler
#endif
  static char alternate[1 << 17];
  stack_t stack{};
  stack.ss_sp = alternate;
  stack.ss_size = sizeof alternate;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGUSR1})
    sigaction(number, &action, nullptr);
}

}  // namespace iron
