#include "channel_to_client.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "status.h"

namespace iron {

Client client;

namespace {

constexpr size_t kHead = 8;
constexpr int64_t kLinger = 50000;  // ns; a few times what it costs to be woken

int64_t nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Is there a processor for the client while we look out for its request?
bool several_processors() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set) > 1;
#endif
  return sysconf(_SC_NPROCESSORS_ONLN) > 1;
}

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace

void Client::linger() {
  int64_t until = nanoseconds() + kLinger;
  while (status->asked == status->answered && nanoseconds() < until)
    for (int k = 0; k < 16 && status->asked == status->answered; k++) pause();
}

bool Client::more() {
  if (from_ == to_) from_ = to_ = 0;
  if (to_ == bytes_.size()) bytes_.resize(2 * bytes_.size());
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec part{bytes_.data() + to_, bytes_.size() - to_};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t k;
  do k = recvmsg(socket, &message, 0);
  while (k < 0 && errno == EINTR);
  if (k <= 0) return false;
  for (cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    int descriptor;
    std::memcpy(&descriptor, CMSG_DATA(c), sizeof descriptor);
    descriptors_.push_back(descriptor);  // of the messages in the order they come
  }
  to_ += (size_t)k;
  return true;
}

bool Client::receive(uint32_t &kind, const uint8_t *&payload, size_t &size, int &descriptor) {
  if (lingers_ && from_ == to_) linger();
  while (to_ - from_ < kHead)
    if (!more()) return false;
  uint32_t head[2];
  std::memcpy(head, bytes_.data() + from_, sizeof head);
  kind = head[0];
  size = head[1];
  while (to_ - from_ < kHead + size)
    if (!more()) return false;
  payload = bytes_.data() + from_ + kHead;
  from_ += kHead + size;
  descriptor = -1;
  if (kind == kSegment && !descriptors_.empty()) {
    descriptor = descriptors_.front();
    descriptors_.pop_front();
  }
  if ((kind == kRun || kind == kRunWatched) && answered_at_) {
    static const bool several = several_processors();
    lingers_ = several && nanoseconds() - answered_at_ < 2 * kLinger;
  }
  return true;
}

bool Client::send(uint32_t kind, const void *payload, size_t size) const {
  uint32_t head[2] = {kind, (uint32_t)size};
  std::string all((const char *)head, sizeof head);
  all.append((const char *)payload, size);
  for (size_t at = 0; at < all.size();) {
    ssize_t k = write(socket, all.data() + at, all.size() - at);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    at += (size_t)k;
  }
  return true;
}

bool Client::answer(bool watched, uint64_t steps, const std::string &unfinished) {
  status->steps = steps;
  told_ = !watched || !unfinished.empty();
  status->told = told_;
  bool good = true;
  if (told_) {
    std::string result((const char *)&steps, sizeof steps);
    good = send(kDone, result + unfinished);
  }
  __atomic_store_n(&status->answered, status->begun, __ATOMIC_RELEASE);
  answered_at_ = nanoseconds();
  return good;
}

bool Client::tell() {
  if (told_) return true;  // it is on its way
  told_ = true;
  uint64_t steps = status->steps;
  return send(kDone, &steps, sizeof steps);
}

}  // namespace iron
