// From the table of a network to its parts.
#include <cstdio>
#include <cstring>

#include "asan.h"
#include "network.h"
#include "table.h"

namespace iron {

namespace {

constexpr size_t kPersistent = 1 << 20;  // more than a memory tile has

class Reader {
 public:
  explicit Reader(Network &n) : n_(n) {}

  void line(const Line &l) {
    if (l.kind == "device") {
      n_.devices.push_back(std::make_unique<Device>());
      d_ = n_.devices.back().get();
      d_->target = l.bare.empty() ? "" : l.bare[0];
      d_->name = l.text("name");
      cores_ = Names<Core>();
    } else if (l.kind == "buffer") {
      buffer(l);
    } else if (l.kind == "data") {
      data(l);
    } else if (l.kind == "lock") {
      lock(l);
    } else if (l.kind == "channel") {
      channel(l);
    } else if (l.kind == "port") {
      port(l);
    } else if (l.kind == "task") {
      auto task = std::make_unique<Task>();
      task->channel = channels_[l.raw("channel")];
      task->repeat = (int32_t)l.number("repeat");
      task_ = task.get();
      task->channel->program.push_back(std::move(task));
    } else if (l.kind == "bd") {
      bd(l);
    } else if (l.kind == "route") {
      route(l);
    } else if (l.kind == "end") {
      end(l);
    } else if (l.kind == "core") {
      core(l);
    } else if (l.kind == "sites") {
      for (const std::string &s : l.bare) body_->sites.push_back(s == "-" ? "" : unquote(s));
    } else if (l.kind == "cascade") {
      cascade(l);
    } else if (l.kind == "sequence") {
      n_.sequence.image = l.text("image");
      resources(n_.sequence, l);
      body_ = &n_.sequence;
    } else if (l.kind == "argument") {
      n_.sequence.parameters.push_back(
          {l.text("dtype"), l.number("bytes", -1), l.number("scalar") != 0});
    } else if (l.kind != "iron-network" && l.kind[0] != '#') {
      throw std::runtime_error("unknown entry '" + l.kind + "'");
    }
  }

 private:
  void buffer(const Line &l) {
    auto b = std::make_unique<Buffer>();
    b->name = unquote(l.bare.at(0));
    b->tile = l.text("tile");
    b->bytes = l.number("bytes");
    b->argument = (int32_t)l.number("argument", -1);
    b->persists = l.has("at");
    if (b->persists) {
      std::vector<uint8_t> &whole = n_.memories[b->tile];
      size_t end = (size_t)(l.number("at") + b->bytes);
      if (end > kPersistent) throw std::runtime_error("'" + b->name + "' lies beyond its tile's memory");
      whole.resize(kPersistent);  // once, so that nothing moves
      b->data = whole.data() + l.number("at");
    } else {
      b->store = std::make_unique<uint8_t[]>((size_t)b->bytes + 128);  // zeroed
      b->data = (uint8_t *)(((uintptr_t)b->store.get() + 63) & ~(uintptr_t)63);
      uint8_t *end = b->data + b->bytes;
      forbid(b->store.get(), (size_t)(b->data - b->store.get()));
      forbid(end, (size_t)(b->store.get() + b->bytes + 128 - end));
    }
    buffers_.add(l.bare[0], b.get());
    d_->buffers.push_back(std::move(b));
  }

  void data(const Line &l) {
    Buffer *b = buffers_[l.bare.at(0)];
    const std::string &hex = l.bare.at(1);
    size_t n = hex.size() / 2;
    int64_t at = l.number("at");
    if (at < 0 || at + (int64_t)n > b->bytes) throw std::runtime_error("data beyond its buffer");
    b->initial.resize((size_t)b->bytes);
    uint8_t *to = b->initial.data() + at;
    for (size_t i = 0; i < n; i++) to[i] = (uint8_t)std::stoi(hex.substr(2 * i, 2), nullptr, 16);
    int64_t repeat = l.number("repeat", 1);
    for (int64_t k = 1; k < repeat; k++) std::memcpy(to + k * (int64_t)n, to, n);
  }

  void lock(const Line &l) {
    auto k = std::make_unique<Lock>();
    k->name = l.has("text") ? l.text("text") : unquote(l.bare.at(0));
    k->tile = l.text("tile");
    k->fifo = l.text("fifo");
    k->where = l.text("where");
    k->initial = k->value = (int32_t)l.number("value");
    locks_.add(l.bare.at(0), k.get());
    d_->locks.push_back(std::move(k));
  }

  void channel(const Line &l) {
    auto c = std::make_unique<Channel>();
    c->tile = l.text("tile");
    c->sends = l.raw("dir") == "MM2S";
    c->index = (int32_t)l.number("index");
    c->shim = l.number("shim") != 0;
    c->far = c->shim;
    c->takes_away = c->sends;
    c->fifo = l.text("fifo");
    c->symbol = l.text("symbol");
    c->where = l.text("where");
    c->name = "DMA " + c->tile + " " + l.raw("dir") + " " + std::to_string(c->index);
    std::string of = !c->fifo.empty() ? c->fifo : c->symbol;
    if (!of.empty()) c->name += " ('" + of + "')";
    uint32_t pad = (uint32_t)l.number("pad");
    std::memcpy(c->pad, &pad, 4);
    std::memcpy(c->pad + 4, &pad, 4);
    channels_.add(l.bare.at(0), c.get());
    streams_.add(l.bare[0], static_cast<Port *>(c.get()));
    d_->channels.push_back(std::move(c));
  }

  void port(const Line &l) {
    auto p = std::make_unique<CorePort>();
    p->tile = l.text("tile");
    p->sends = l.raw("dir") == "out";
    p->index = (int32_t)l.number("index");
    p->name = "stream port " + std::to_string(p->index) + " of core " + p->tile;
    streams_.add(l.bare.at(0), static_cast<Port *>(p.get()));
    d_->ports.push_back(std::move(p));
  }

  std::vector<LockUse> uses(const std::string &text) {
    std::vector<LockUse> out;
    for (const std::string &use : split(text, '|')) {
      std::vector<std::string> f = split(use, ':');
      out.push_back({locks_[f.at(0)], (int32_t)std::stoi(f.at(1)), f.size() > 2 && f[2] == "eq"});
    }
    return out;
  }

  void bd(const Line &l) {
    Bd b;
    Buffer *buffer = buffers_[l.raw("buffer")];
    b.base = buffer->data;
    b.offset = l.number("offset");
    b.length = l.number("length");
    b.element = (int32_t)l.number("element", 1);
    for (const std::string &d : split(l.raw("dims"), '|')) {
      std::vector<std::string> f = split(d, ':');
      Dimension dim{std::stoll(f.at(0)), std::stoll(f.at(1))};
      if (f.size() > 3) {
        dim.before = std::stoi(f[2]);
        dim.after = std::stoi(f[3]);
      }
      b.dims.push_back(dim);
    }
    if (b.dims.size() > 8) throw std::runtime_error("a buffer descriptor has at most 8 dimensions");
    std::vector<std::string> it = split(l.raw("iteration"), ':');
    if (it.size() == 3) {
      b.iteration_size = std::stoll(it[0]);
      b.iteration_stride = std::stoll(it[1]);
      b.iteration = b.first_iteration = std::stoll(it[2]);
    }
    b.acquires = uses(l.raw("acquire"));
    b.releases = uses(l.raw("release"));
    b.next = (int32_t)l.number("next", -1);
    std::vector<std::string> packet = split(l.raw("packet"), ':');
    if (packet.size() == 2) {
      b.packet = std::stoi(packet[0]);
      b.packet_type = std::stoi(packet[1]);
    }
    b.simplify();
    int64_t low, high;
    b.extent(low, high);
    if (b.bytes() > 0 && (low < 0 || high * b.element > buffer->bytes))
      throw std::runtime_error("a buffer descriptor of " + task_->channel->name + " reaches elements " +
                               std::to_string(low) + " to " + std::to_string(high - 1) + " of '" +
                               buffer->name + "', which has " +
                               std::to_string(buffer->bytes / b.element));
    task_->bds.push_back(std::move(b));
  }

  void route(const Line &l) {
    Port *from = streams_[l.raw("from")];
    Route r{(int32_t)l.number("packet", -1), l.number("keep") != 0, {}};
    for (const std::string &to : split(l.raw("to"), '|')) {
      Port *sink = streams_[to];
      r.sinks.push_back(sink);
      bool known = false;
      for (Port *f : sink->feeders) known |= f == from;
      if (!known) sink->feeders.push_back(from);
    }
    from->routes.push_back(std::move(r));
  }

  void end(const Line &l) {
    auto e = std::make_unique<End>();
    e->fifo = l.text("fifo");
    e->port = l.raw("port");
    e->where = l.text("where");
    e->repeat = (int32_t)l.number("repeat", 1);
    for (const std::string &b : split(l.raw("buffers"), '|'))
      e->buffers.push_back(buffers_[b]->data);
    if (l.has("acquire")) e->acquires = locks_[l.raw("acquire")];
    if (l.has("release")) e->releases = locks_[l.raw("release")];
    ends_.add(l.bare.at(0), e.get());
    d_->ends.push_back(std::move(e));
  }

  void resources(Core &c, const Line &l) {
    c.body_name = l.text("body");
    c.where = l.text("where");
    for (const std::string &s : split(l.raw("ends"), '|')) c.ends.push_back(ends_[s]);
    for (const std::string &s : split(l.raw("buffers"), '|'))
      c.buffers.push_back(buffers_[s]->data);
    for (const std::string &s : split(l.raw("locks"), '|')) c.locks.push_back(locks_[s]);
    for (const std::string &s : split(l.raw("channels"), '|'))
      c.channels.push_back(channels_[s]);
    c.context.ends = c.ends.data();
    c.context.buffers = c.buffers.data();
    c.context.locks = c.locks.data();
    c.context.channels = c.channels.data();
  }

  void core(const Line &l) {
    std::string tile = l.text("tile");
    auto c = std::make_unique<Core>("core " + tile, (int32_t)d_->cores.size());
    c->tile = tile;
    c->image = l.text("image");
    resources(*c, l);
    for (auto &p : d_->ports)
      if (p->tile == tile) {
        p->owner = c.get();
        c->ports.push_back(p.get());
      }
    body_ = c.get();
    cores_.add(tile, c.get());
    d_->cores.push_back(std::move(c));
  }

  void cascade(const Line &l) {
    auto c = std::make_unique<Cascade>();
    c->name = "the cascade from " + l.text("from") + " to " + l.text("to");
    if (Core *from = cores_.find(l.text("from"))) from->cascade_out = c.get();
    if (Core *to = cores_.find(l.text("to"))) to->cascade_in = c.get();
    d_->cascades.push_back(std::move(c));
  }

  Network &n_;
  Device *d_ = nullptr;
  Task *task_ = nullptr;
  Core *body_ = nullptr;
  Names<Buffer> buffers_;
  Names<Lock> locks_;
  Names<Channel> channels_;
  Names<Port> streams_;
  Names<End> ends_;
  Names<Core> cores_;
};

}  // namespace

std::string Network::read(const std::string &where) {
  directory = where;
  std::string path = where + "/design.net";
  std::FILE *in = std::fopen(path.c_str(), "r");
  if (!in) return "cannot open " + path;
  Reader reader(*this);
  std::string text, why;
  for (int number = 1, c = 0; c != EOF && why.empty(); number++) {
    text.clear();
    while ((c = std::getc(in)) != EOF && c != '\n') text += (char)c;
    if (text.empty()) continue;
    try {
      reader.line(Line(text));
    } catch (const std::exception &e) {
      why = path + ":" + std::to_string(number) + ": " + e.what();
    }
  }
  std::fclose(in);
  return why;
}

}  // namespace iron
