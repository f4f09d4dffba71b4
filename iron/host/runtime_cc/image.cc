#include "image.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace iron {

static bool copy(int from, int to) {
  char block[1 << 16];
  off_t at = 0;
  for (ssize_t n; (n = pread(from, block, sizeof block, at)) != 0; at += n) {
    if (n < 0) return false;
    for (ssize_t k = 0; k < n;) {
      ssize_t w = write(to, block + k, (size_t)(n - k));
      if (w <= 0) return false;
      k += w;
    }
  }
  return true;
}

// A file the loader takes for a different one, so that it is loaded again.
static std::string private_copy(int from, int &fd, bool &unlink_after) {
  std::string name;
#ifdef __linux__
  fd = memfd_create("iron-image", MFD_CLOEXEC);
  unlink_after = false;
  name = "/proc/self/fd/" + std::to_string(fd);
#endif
  if (name.empty() || fd < 0) {
    const char *dir = std::getenv("TMPDIR");
    name = std::string(dir && *dir ? dir : "/tmp") + "/iron-image-XXXXXX";
    fd = mkstemp(name.data());
    unlink_after = true;
  }
  return fd >= 0 && copy(from, fd) ? name : "";
}

std::string Images::bind(const std::string &image, const std::string &body, Loaded &copy,
                         Body &found) {
  if (copy.handle) dlclose(copy.handle);
  if (copy.descriptor >= 0) close(copy.descriptor);
  copy = Loaded();
  std::string path = directory_ + "/" + image + ".so", file = path;
  int fd = -1;
  bool unlink_after = false;
  Image &known = images_[image];
  if (known.descriptor < 0) known.descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (known.descriptor < 0) return "cannot read " + path + ": " + std::strerror(errno);
  if (known.loaded) file = private_copy(known.descriptor, fd, unlink_after);
  if (file.empty()) return "cannot copy " + path + ": " + std::strerror(errno);
  known.loaded = true;
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::string why = handle ? "" : dlerror();
  if (unlink_after) unlink(file.c_str());
  copy = {handle, fd};  // fd stays open: the loader knows a library by its name, which is the number of the descriptor.
  if (!handle) return "cannot load " + path + ": " + why;
  auto table = (const Api **)dlsym(handle, "iron_api");
  if (!table) return path + " is no image of the host target (it has no iron_api)";
  *table = api_;
  found = (Body)dlsym(handle, body.c_str());
  if (!found) return path + " has no body " + body;
  return "";
}

}  // namespace iron
