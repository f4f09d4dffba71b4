#include "bd.h"

#include <algorithm>

namespace iron {

void Bd::simplify() {
  merge_dims();
  plain = dims.empty() && !padded && iteration_size <= 1;
}

void Bd::merge_dims() {
  for (const Dimension &d : dims) padded |= d.before != 0 || d.after != 0;
  int64_t product = 1;
  for (const Dimension &d : dims) product *= d.size;
  if (padded || length > product) return;  // beyond the sizes only the outermost goes on
  std::vector<Dimension> kept;
  for (const Dimension &d : dims) {
    if (d.size == 1) continue;
    if (!kept.empty() && kept.back().stride == d.size * d.stride) {
      kept.back() = {kept.back().size * d.size, d.stride};
    } else {
      kept.push_back(d);
    }
  }
  if (kept.size() == 1 && kept[0].stride == 1) kept.clear();
  dims = kept;
}

int64_t Bd::bytes() const {
  if (!padded) return length * element;
  int64_t n = element;
  for (const Dimension &d : dims) n *= d.size + d.before + d.after;
  return n;
}

void Bd::extent(int64_t &low, int64_t &high) const {
  low = high = offset;
  if (dims.empty()) {
    high += length - 1;
  } else {
    int64_t inner = 1;
    for (size_t k = dims.size(); k-- > 0;) {
      // The outermost dimension has no wrap: it goes on as far as the length asks.
      int64_t size = dims[k].size;
      if (k == 0 && !padded) size = std::max<int64_t>(1, (length + inner - 1) / inner);
      inner *= std::max<int64_t>(1, dims[k].size);
      int64_t reach = (size - 1) * dims[k].stride;
      (reach < 0 ? low : high) += reach;
    }
  }
  if (iteration_size > 1) {
    int64_t reach = (iteration_size - 1) * iteration_stride;
    (reach < 0 ? low : high) += reach;
  }
  high += 1;
}

void Cursor::begin_walk(Bd &bd, const uint8_t *pad) {
  bd_ = &bd;
  pad_ = pad;
  rank_ = (int)bd.dims.size();
  shift_ = bd.offset;
  if (bd.iteration_size > 1) {
    shift_ += bd.iteration * bd.iteration_stride;
    bd.iteration = (bd.iteration + 1) % bd.iteration_size;
  }
  std::fill(index_, index_ + rank_, 0);
  left = bd.bytes();
  locate();
}

void Cursor::locate() {
  const Bd &b = *bd_;
  int64_t where = shift_;
  bool inside = true;
  for (int k = 0; k < rank_; k++) {
    int64_t i = index_[k] - b.dims[k].before;
    if (b.padded && (i < 0 || i >= b.dims[k].size)) inside = false;
    where += i * b.dims[k].stride;
  }
  if (!inside) {
    // A word of padding keeps its byte order whatever the size of an element.
    at = const_cast<uint8_t *>(pad_) + (b.element < 4 ? (b.bytes() - left) % 4 : 0);
    run = std::min<int64_t>(b.element, left);
    return;
  }
  at = b.base + where * b.element;
  if (rank_ == 0)
    run = left;
  else if (!b.padded && b.dims[rank_ - 1].stride == 1)
    run = std::min(b.dims[rank_ - 1].size * b.element, left);
  else
    run = std::min<int64_t>(b.element, left);
}

void Cursor::turn() {
  const Bd &b = *bd_;
  int k = rank_ - 1;
  if (!b.padded && b.dims[k].stride == 1) {
    // A whole innermost run is done; only a lone dimension can go on beyond its size.
    if (k == 0) index_[0] += b.dims[0].size;
    k--;
  }
  for (; k >= 0; k--) {
    index_[k]++;
    if (k == 0 && !b.padded) break;
    if (index_[k] < b.dims[k].size + b.dims[k].before + b.dims[k].after) break;
    index_[k] = 0;
  }
  locate();
}

}  // namespace iron
