#include "trace.h"

#include "network.h"

#include <cstdio>
#include <map>

namespace iron {

bool tracing = false;

namespace {

std::string path;
std::string events;
uint64_t tick = 0;
std::map<std::string, int> tiles;               // process of the timeline by tile
std::map<const void *, std::pair<int, int>> rows;  // process and thread
struct Span {
  uint64_t since;
  std::string what;
};
std::map<const void *, Span> open_spans, open_waits;

std::string quoted(const std::string &s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c < ' ' ? ' ' : c;
  }
  return out + "\"";
}

void add(const std::string &event) { events += (events.empty() ? "" : ",\n") + event; }

void name_row(const char *kind, int process, int thread, const std::string &name) {
  add("{\"ph\":\"M\",\"name\":\"" + std::string(kind) + "\",\"pid\":" + std::to_string(process) +
      ",\"tid\":" + std::to_string(thread) + ",\"args\":{\"name\":" + quoted(name) + "}}");
}

int process_of(const std::string &tile) {
  auto [at, fresh] = tiles.emplace(tile, (int)tiles.size() + 1);
  if (fresh) name_row("process_name", at->second, 0, tile.empty() ? "host" : "tile " + tile);
  return at->second;
}

void row(const void *thing, const std::string &tile, int thread, const std::string &name) {
  int process = process_of(tile);
  rows[thing] = {process, thread};
  name_row("thread_name", process, thread, name);
}

void complete(const void *thing, const char *category, const std::string &name, uint64_t since) {
  auto at = rows.find(thing);
  if (at == rows.end()) return;
  add("{\"ph\":\"X\",\"cat\":\"" + std::string(category) + "\",\"name\":" + quoted(name) +
      ",\"pid\":" + std::to_string(at->second.first) + ",\"tid\":" + std::to_string(at->second.second) +
      ",\"ts\":" + std::to_string(since) + ",\"dur\":" + std::to_string(tick - since) + "}");
}

void close(std::map<const void *, Span> &spans, const void *thing, const char *category) {
  auto at = spans.find(thing);
  if (at == spans.end()) return;
  complete(thing, category, at->second.what, at->second.since);
  spans.erase(at);
}

}  // namespace

void trace_to(const std::string &file, const Network &n) {
  path = file;
  tracing = true;
  row(&n.sequence, "", 1, "runtime sequence");
  for (auto &d : n.devices) {
    for (auto &c : d->cores) row(static_cast<const Process *>(c.get()), c->tile, 1, c->name);
    for (auto &c : d->channels)
      row(static_cast<const Process *>(c.get()), c->tile, 10 + 2 * c->index + (c->sends ? 1 : 0),
          c->name);
  }
}

void trace_core_begin(const Fiber *f) {
  ++tick;
  trace_wait(f, nullptr);
  open_spans[static_cast<const Process *>(f)] = {tick, "runs"};
}

void trace_core_end(const Fiber *f) {
  ++tick;
  const Process *p = f;
  close(open_spans, p, "run");
  if (f->done) return;
  std::string what = f->waits_text ? f->waits_text : "";
  if (what.empty() && !f->waits_for) what = f->index < 0 ? "a transfer" : "its turn";
  if (!what.empty()) open_waits[p] = {tick, "waits for " + what};
}

void trace_transfer_begin(const Channel *c) {
  ++tick;
  std::string of = c->fifo.empty() ? c->symbol : c->fifo;
  open_spans[static_cast<const Process *>(c)] = {
      tick, (of.empty() ? "transfer" : of) + " " + std::to_string(c->cursor.left) + " bytes"};
}

void trace_transfer_end(const Channel *c) {
  ++tick;
  close(open_spans, static_cast<const Process *>(c), "transfer");
}

void trace_wait(const Process *p, const Lock *lock) {
  close(open_waits, p, "wait");
  if (lock) open_waits[p] = {tick, "waits for " + lock->name};
}

void trace_level(const Lock *lock) {
  if (lock->fifo.empty() || lock->name.rfind("a filled", 0) != 0) return;
  ++tick;
  add("{\"ph\":\"C\",\"name\":" + quoted("filled objects of " + lock->fifo) +
      ",\"pid\":" + std::to_string(process_of(lock->tile)) + ",\"ts\":" + std::to_string(tick) +
      ",\"args\":{\"objects\":" + std::to_string(lock->value) + "}}");
}

void trace_write() {
  ++tick;
  std::FILE *out = std::fopen(path.c_str(), "w");
  if (!out) {
    std::fprintf(stderr, "cannot write the timeline %s\n", path.c_str());
    return;
  }
  std::fprintf(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n%s\n]}\n", events.c_str());
  std::fclose(out);
}

}  // namespace iron
