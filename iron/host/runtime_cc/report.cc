#include "report.h"

#include <algorithm>
#include <map>
#include <set>

namespace iron {
namespace {

std::string at(const std::string &where) { return where.empty() ? "" : "\n      at " + where; }

std::string describe(const Lock *l, int32_t wants, bool exactly) {
  return l->name + " (value " + std::to_string(l->value) + ", wants " +
         (exactly ? "exactly " : "") + std::to_string(wants) + ")";
}

bool uses(const std::vector<LockUse> &all, const Lock *l) {
  return std::any_of(all.begin(), all.end(), [&](const LockUse &u) { return u.lock == l; });
}

bool releases(const Task *t, const Lock *l) {
  return std::any_of(t->bds.begin(), t->bds.end(), [&](const Bd &b) { return uses(b.releases, l); });
}

// Who may still release a lock.
std::vector<const Process *> releasers(const Network &n, const Lock *l) {
  std::vector<const Process *> out;
  for (auto &c : n.loaded->channels)
    for (const Task *t : c->queue)
      if (releases(t, l)) {
        out.push_back(c.get());
        break;
      }
  for (auto &c : n.loaded->cores) {
    if (c->done) continue;
    bool may = std::find(c->locks.begin(), c->locks.end(), l) != c->locks.end();
    for (const End *e : c->ends) may |= e->releases == l;
    if (may) out.push_back(c.get());
  }
  return out;
}

// Whom a process waits for.
std::vector<const Process *> awaited(const Network &n, const Process *p) {
  if (p->waits_for) return releasers(n, p->waits_for);
  std::vector<const Process *> out;
  if (p == &n.sequence) {
    if (n.sequence.awaits) out.push_back(n.sequence.awaits->channel);
    if (n.sequence.awaits_channel) out.push_back(n.sequence.awaits_channel);
  } else if (auto *port = dynamic_cast<const Port *>(p)) {
    if (!port->active) return out;
    for (const Route &r : port->routes)
      for (Port *sink : r.sinks)
        if (!sink->active || sink->bound) out.push_back(sink);
    for (Port *f : port->feeders)
      if (!f->active) out.push_back(f);
  } else if (auto *core = dynamic_cast<const Core *>(p)) {
    if (!core->waits_text) return out;
    for (auto &c : n.loaded->cores)
      if (core->waits_object &&
          ((c->cascade_out == core->waits_object) != (core->cascade_out == core->waits_object)) &&
          (c->cascade_in == core->waits_object || c->cascade_out == core->waits_object))
        out.push_back(c.get());
    for (CorePort *port : core->ports)
      if (port == core->waits_object) out.push_back(port);
  }
  return out;
}

const std::string &name_of(const Process *p) {
  if (auto *port = dynamic_cast<const Port *>(p)) return port->name;
  return static_cast<const Fiber *>(p)->name;
}

// Follow who waits for whom from `p`; the first circle found, in order.
bool find_circle(const Network &n, const Process *p, std::vector<const Process *> &path,
                 std::set<const Process *> &seen, std::vector<const Process *> &circle) {
  auto on_path = std::find(path.begin(), path.end(), p);
  if (on_path != path.end()) {
    circle.assign(on_path, path.end());
    return true;
  }
  if (!seen.insert(p).second) return false;
  path.push_back(p);
  for (const Process *next : awaited(n, p))
    if (find_circle(n, next, path, seen, circle)) return true;
  path.pop_back();
  return false;
}

std::string core_state(const Core &c) {
  if (c.done) return "has finished its body";
  if (c.waits_for) return "waits for " + describe(c.waits_for, c.wants, c.wants_exactly) + at(c.site());
  if (c.waits_text) return std::string("waits for ") + c.waits_text + at(c.site());
  return "is ready to run";
}

std::string channel_state(const Channel &c) {
  std::string moved = c.moved ? ", has moved " + std::to_string(c.moved) + " bytes" : "";
  if (c.active)
    return "is in a transfer, " + std::to_string(c.cursor.left) + " bytes left" + moved;
  if (c.waits_for)
    return "waits for " + describe(c.waits_for, c.wants, c.wants_exactly) + moved;
  if (c.queue.empty()) return "has nothing queued" + moved;
  return "has a transfer queued" + moved;
}

bool awaits_data(const Port *sink) {
  auto *channel = dynamic_cast<const Channel *>(sink);
  return sink->active || (channel && !channel->queue.empty());
}

// The side of a fifo a core waits at; null when it waits for something else.
const End *awaited_end(const Process *p) {
  auto *core = dynamic_cast<const Core *>(p);
  if (!core || !core->waits_for) return nullptr;
  for (const End *e : core->ends)
    if (e->acquires == core->waits_for) return e;
  return nullptr;
}

void hints(const Network &n, const std::vector<const Process *> &circle, std::string &out) {
  std::set<std::string> said;
  auto say = [&](const std::string &text) {
    if (said.insert(text).second) out += "hint: " + text + "\n";
  };
  for (auto &c : n.loaded->channels) {
    if (!c->queue.empty()) continue;
    if (c->sends) {
      for (const Route &r : c->routes)
        for (Port *sink : r.sinks)
          if (sink->active && sink->cursor.left > 0 && sink->moved > 0 && c->moved > 0)
            say("the transfer on " + c->name + " is too short: " +
                std::to_string(sink->cursor.left) + " bytes are missing to the next object at " +
                sink->name + ", and nothing more is queued");
          else if (c->shim && awaits_data(sink))
            say("nothing is queued on " + c->name + (c->moved ? " any more" : "") +
                ": the sequence starts no transfer for it before it waits");
    } else if (c->shim) {
      for (Port *f : c->feeders)
        if (f->active)
          say(f->name + " has data for " + c->name + ", where no transfer is queued");
    }
  }
  bool empty = !circle.empty();  // do all wait for objects, and none for room?
  for (const Process *p : circle) {
    const End *e = awaited_end(p);
    bool for_room = e && e->port == "produce";
    empty = empty && e && !for_room;
    if (e && e->buffers.size() == 1 && (for_room || e->held > 0))
      say("fifo '" + e->fifo + "' has a depth of 1 at " + name_of(p) +
          ": it cannot hold one object while the next is filled");
  }
  if (empty)
    say("each of them waits for an object the other has not made yet, whatever the depths: one of "
        "these fifos needs an initial object, or one of the cores has to produce first");
  for (auto &c : n.loaded->cores)
    if (c->done)
      say(c->name + " has finished its body and does nothing more in this and later runs");
}

}  // namespace

std::string deadlock_report(const Network &n) {
  const Sequence &s = n.sequence;
  std::string out = "deadlock: the runtime sequence waits for ";
  const Channel *c = s.awaits ? s.awaits->channel : s.awaits_channel;
  if (c)
    out += "a transfer on " + c->name;
  else if (s.waits_for)
    out += describe(s.waits_for, s.wants, s.wants_exactly);
  else
    out += "something";
  out += ", and nothing can run\n";
  if (!s.site().empty()) out += "  at " + s.site() + "\n";
  for (auto &core : n.loaded->cores) out += "  " + core->name + " " + core_state(*core) + "\n";
  for (auto &ch : n.loaded->channels)
    if (!ch->queue.empty() || ch->moved || !ch->feeders.empty() || !ch->routes.empty())
      out += "  " + ch->name + " " + channel_state(*ch) + "\n";
  std::vector<const Process *> path, circle;
  std::set<const Process *> seen;
  find_circle(n, &s, path, seen, circle);
  for (auto &core : n.loaded->cores)
    if (circle.empty()) find_circle(n, core.get(), path, seen, circle);
  if (!circle.empty()) {
    out += "these wait for each other: ";
    for (const Process *p : circle) out += name_of(p) + " -> ";
    out += name_of(circle.front()) + "\n";
  }
  hints(n, circle, out);
  return out;
}

std::string unfinished_transfers(const Network &n) {
  std::string out;
  for (auto &c : n.loaded->channels)
    for (const Task *t : c->queue) {
      if (!t->from_sequence) continue;
      out += c->name + ": a transfer of the sequence has not ended";
      if (t == c->queue.front() && c->active)
        out += ", " + std::to_string(c->cursor.left) + " bytes left";
      out += "\n";
    }
  return out;
}

}  // namespace iron
