#include "race.h"

#ifdef IRON_RACE

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "network.h"

namespace iron {
namespace {

using Clock = std::vector<uint32_t>;

void join(Clock &into, const Clock &from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (size_t i = 0; i < from.size(); i++) into[i] = std::max(into[i], from[i]);
}

struct Actor {
  const Process *process;
  uint32_t number;
  Clock clock;
};

struct Use {
  int32_t actor = -1;
  uint32_t time = 0;
  std::string site;
};

struct Word {
  Use writer;
  std::vector<Use> readers;
};

struct Shadow {
  const Buffer *buffer;
  std::vector<Word> words;
};

struct Handed {
  const uint8_t *at;
  std::vector<uint8_t> before;
};

std::map<const Process *, Actor> actors;
std::vector<const Process *> numbered;
std::map<const void *, Clock> passed;
std::map<const uint8_t *, Shadow> shadows;  // by the end of a buffer
std::vector<Handed> handed;
std::set<std::string> found;

Actor &actor_of(const Process *p) {
  auto at = actors.find(p);
  if (at != actors.end()) return at->second;
  auto number = (uint32_t)actors.size();
  Actor &a = actors[p] = {p, number, Clock(number + 1, 0)};
  a.clock[number] = 1;
  numbered.push_back(p);
  return a;
}

std::string name_of(const Process *p) {
  if (auto *port = dynamic_cast<const Port *>(p)) return port->name;
  return static_cast<const Fiber *>(p)->name;
}

std::string site_of(const Process *p) {
  if (auto *core = dynamic_cast<const Core *>(p)) return core->site();
  if (auto *port = dynamic_cast<const Port *>(p)) return port->where;
  return "";
}

Shadow *shadow_of(const uint8_t *at) {
  if (shadows.empty())
    for (auto &d : network->devices)
      for (auto &b : d->buffers)
        shadows[b->data + b->bytes] = {b.get(), std::vector<Word>((size_t)(b->bytes + 3) / 4)};
  auto next = shadows.upper_bound(at);
  if (next == shadows.end() || at < next->second.buffer->data) return nullptr;
  return &next->second;
}

bool before(const Use &use, const Actor &me) {
  auto n = (size_t)use.actor;
  return use.actor < 0 || n == me.number || (n < me.clock.size() && me.clock[n] >= use.time);
}

void tell(const Shadow &s, int64_t byte, const Actor &me, bool writes, const Use &other, bool wrote) {
  auto at = [](const std::string &site) { return site.empty() ? "" : " at " + site; };
  found.insert("race: " + name_of(me.process) + (writes ? " writes" : " reads") + " '" +
               s.buffer->name + "' of tile " + s.buffer->tile + at(site_of(me.process)) + ", which " +
               name_of(numbered[(size_t)other.actor]) + (wrote ? " wrote" : " read") + at(other.site) +
               "; no lock, stream or task orders the two (first seen at byte " +
               std::to_string(byte) + ")");
}

void use(const Process *p, const uint8_t *from, int64_t bytes, bool writes) {
  Actor &me = actor_of(p);
  Shadow *s = shadow_of(from);
  if (!s || bytes <= 0 || found.size() > 20) return;
  int64_t first = from - s->buffer->data;
  int64_t last = std::min(first + bytes, s->buffer->bytes) - 1;
  Use mine{(int32_t)me.number, me.clock[me.number], site_of(p)};
  for (int64_t w = first / 4; w <= last / 4; w++) {
    Word &word = s->words[(size_t)w];
    if (!before(word.writer, me)) {
      tell(*s, w * 4, me, writes, word.writer, true);
      return;
    }
    if (!writes) {
      auto known = std::find_if(word.readers.begin(), word.readers.end(),
                                [&](const Use &u) { return u.actor == mine.actor; });
      if (known == word.readers.end())
        word.readers.push_back(mine);
      else
        *known = mine;
      continue;
    }
    for (const Use &u : word.readers)
      if (!before(u, me)) {
        tell(*s, w * 4, me, true, u, false);
        return;
      }
    word.readers.clear();
    word.writer = mine;
  }
}

}  // namespace

void race_release(const Process *p, const void *through) {
  Actor &a = actor_of(p);
  join(passed[through], a.clock);
  a.clock[a.number]++;
}

void race_acquire(const Process *p, const void *through) {
  auto at = passed.find(through);
  if (at != passed.end()) join(actor_of(p).clock, at->second);
}

void race_passed(const Process *from, const Process *to) {
  Actor &a = actor_of(from), &b = actor_of(to);  // references into a map stay good
  join(b.clock, a.clock);
  a.clock[a.number]++;
}

void race_begin(const Channel *c, const Task *task) { race_acquire(c, task); }

void race_transferred(const Channel *c, const Bd &bd) {
  if (!shadow_of(bd.base)) return;
  Bd again = bd;
  if (again.iteration_size > 1)
    again.iteration = (again.iteration + again.iteration_size - 1) % again.iteration_size;
  static const uint8_t pad[8] = {0};
  Cursor at;
  at.begin(again, pad);
  while (at.left > 0) {
    int64_t n = at.run;
    if (at.at < pad || at.at >= pad + 8) use(c, at.at, n, !c->sends);
    at.advance(n);
  }
}

void race_touch(const void *at, int64_t bytes, int32_t writes) {
  use(Fiber::current, (const uint8_t *)at, bytes, writes != 0);
}

void race_call(const void *at, int64_t bytes) {
  auto *from = (const uint8_t *)at;
  if (shadow_of(from)) handed.push_back({from, std::vector<uint8_t>(from, from + bytes)});
}

void race_return() {
  std::vector<Handed> all;
  all.swap(handed);
  for (const Handed &h : all) {
    bool changed = std::memcmp(h.at, h.before.data(), h.before.size()) != 0;
    use(Fiber::current, h.at, (int64_t)h.before.size(), changed);
  }
}

std::string race_report() {
  std::string out;
  for (const std::string &text : found) out += text + "\n";
  return out;
}

}  // namespace iron

#endif
