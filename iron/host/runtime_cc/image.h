// Shared objects of bodies and kernels. Every core gets a copy of its own, so that static data of
// kernels is per core, as it is on the array.
#pragma once
#include <map>
#include <string>

#include "fiber.h"

namespace iron {

struct Loaded {  // one copy of an image
  void *handle = nullptr;
  int descriptor = -1;
};

class Images {
 public:
  Images(std::string directory, const Api *api) : directory_(std::move(directory)), api_(api) {}
  // Load `<directory>/<image>.so` once more and find a body in it; a message or empty. What `copy`
  // held before is unloaded.
  std::string bind(const std::string &image, const std::string &body, Loaded &copy, Body &found);

 private:
  struct Image {
    int descriptor = -1;  // kept open: a copy may be made after the package has been removed
    bool loaded = false;  // under its own name
  };
  std::string directory_;
  const Api *api_;
  std::map<std::string, Image> images_;
};

}  // namespace iron
