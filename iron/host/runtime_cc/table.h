// The text of a network's table: lines, their fields, and things by their names in it.
//
// A line is a word, fields key=value and bare words; what would part them is written %XX.
#pragma once
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace iron {

inline std::string unquote(const std::string &s) {
  std::string out;
  for (size_t i = 0; i < s.size(); i++) {
    if (s[i] == '%' && i + 2 < s.size()) {
      out += (char)std::stoi(s.substr(i + 1, 2), nullptr, 16);
      i += 2;
    } else {
      out += s[i];
    }
  }
  return out;
}

inline std::vector<std::string> split(const std::string &s, char at) {
  std::vector<std::string> parts;
  for (size_t from = 0; from < s.size();) {
    size_t to = s.find(at, from);
    if (to == std::string::npos) to = s.size();
    if (to > from || at != ' ') parts.push_back(s.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

struct Line {
  std::string kind;
  std::vector<std::pair<std::string, std::string>> fields;
  std::vector<std::string> bare;

  explicit Line(const std::string &text) {
    for (const std::string &word : split(text, ' ')) {
      size_t eq = word.find('=');
      if (kind.empty())
        kind = word;
      else if (eq == std::string::npos)
        bare.push_back(word);
      else
        fields.emplace_back(word.substr(0, eq), word.substr(eq + 1));
    }
  }
  const std::string *find(const char *key) const {
    for (auto &f : fields)
      if (f.first == key) return &f.second;
    return nullptr;
  }
  bool has(const char *key) const { return find(key) != nullptr; }
  std::string raw(const char *key) const {
    const std::string *s = find(key);
    return s ? *s : "";
  }
  std::string text(const char *key) const { return unquote(raw(key)); }
  int64_t number(const char *key, int64_t otherwise = 0) const {
    const std::string *s = find(key);
    return s ? std::stoll(*s) : otherwise;
  }
};

// Things by their name in the table.
template <class T> class Names {
 public:
  void add(const std::string &name, T *thing) { all_[name] = thing; }
  T *find(const std::string &name) const {
    auto at = all_.find(name);
    return at == all_.end() ? nullptr : (T *)at->second;
  }
  T *operator[](const std::string &name) const {
    T *thing = find(name);
    if (!thing) throw std::runtime_error("nothing is called '" + name + "'");
    return thing;
  }

 private:
  std::map<std::string, void *> all_;
};

}  // namespace iron
