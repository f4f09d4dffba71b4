#include "channel_to_client.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace iron {

Client client;

static bool read_all(int fd, uint8_t *to, size_t n) {
  while (n > 0) {
    ssize_t k = read(fd, to, n);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    to += k;
    n -= (size_t)k;
  }
  return true;
}

bool Client::receive(uint32_t &kind, std::vector<uint8_t> &payload, int &descriptor) const {
  uint32_t head[2];
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec part{head, sizeof head};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  descriptor = -1;
  ssize_t k;
  do k = recvmsg(socket, &message, 0);
  while (k < 0 && errno == EINTR);
  if (k <= 0) return false;
  for (cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
      std::memcpy(&descriptor, CMSG_DATA(c), sizeof(int));
  if ((size_t)k < sizeof head && !read_all(socket, (uint8_t *)head + k, sizeof head - (size_t)k))
    return false;
  kind = head[0];
  payload.resize(head[1]);
  return read_all(socket, payload.data(), payload.size());
}

bool Client::send(uint32_t kind, const std::string &payload) const {
  uint32_t head[2] = {kind, (uint32_t)payload.size()};
  std::string all((const char *)head, sizeof head);
  all += payload;
  for (size_t at = 0; at < all.size();) {
    ssize_t k = write(socket, all.data() + at, all.size() - at);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    at += (size_t)k;
  }
  return true;
}

}  // namespace iron
