#include "value.h"

namespace oracle {

void Args::set(const std::string& name, Value value) {
  for (auto& [known, old] : entries_)
    if (known == name) {
      old = std::move(value);
      return;
    }
  entries_.emplace_back(name, std::move(value));
  read_.push_back(false);
}

void Args::unsupported(const std::string& what) const { throw Skip{"feature " + op_ + ": " + what}; }

void Args::check_all_read() const {
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (!read_[i] && !entries_[i].second.is<None>()) unsupported("argument " + entries_[i].first);
}

const Value* Args::find(const char* name) const {
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].first == name) {
      read_[i] = true;
      return &entries_[i].second;
    }
  return nullptr;
}

bool Args::has(const char* name) const {
  const Value* v = find(name);
  return v && !v->is<None>();
}
bool Args::is_none(const char* name) const {
  const Value* v = find(name);
  return v && v->is<None>();
}
bool Args::is_tensor(const char* name) const { return has(name) && find(name)->is<Tensor>(); }
bool Args::is_list(const char* name) const { return has(name) && find(name)->is<List>(); }

const Value& Args::value(const char* name) const {
  const Value* v = find(name);
  if (!v) unsupported(std::string("called without ") + name);
  return *v;
}

Tensor Args::tensor(const char* name) const {
  const Value& v = value(name);
  if (!v.is<Tensor>()) unsupported(std::string(name) + " that is no tensor");
  return v.get<Tensor>();
}
Tensor Args::optional_tensor(const char* name) const { return has(name) ? tensor(name) : Tensor(); }
TensorList Args::tensors(const char* name) const {
  const Value& v = value(name);
  if (!v.is<List>()) unsupported(std::string(name) + " that is no list");
  TensorList out;
  for (const Value& t : v.get<List>()) {
    if (!t.is<Tensor>()) unsupported(std::string(name) + " with an entry that is no tensor");
    out.push_back(t.get<Tensor>());
  }
  return out;
}

std::int64_t Args::integer(const char* name) const {
  const Value& v = value(name);
  if (!v.is<std::int64_t>()) unsupported(std::string(name) + " that is no integer");
  return v.get<std::int64_t>();
}
std::int64_t Args::integer(const char* name, std::int64_t absent) const { return has(name) ? integer(name) : absent; }
std::optional<std::int64_t> Args::optional_integer(const char* name) const {
  if (!has(name)) return {};
  return integer(name);
}

Scalar Args::number(const char* name) const {
  const Value& v = value(name);
  if (v.is<bool>()) return v.get<bool>();
  if (v.is<std::int64_t>()) return v.get<std::int64_t>();
  if (v.is<double>()) return v.get<double>();
  unsupported(std::string(name) + " that is no number");
}
Scalar Args::number(const char* name, Scalar absent) const { return has(name) ? number(name) : absent; }
std::optional<Scalar> Args::optional_number(const char* name) const {
  if (!has(name)) return {};
  return number(name);
}
double Args::real(const char* name) const { return number(name).to<double>(); }
double Args::real(const char* name, double absent) const { return has(name) ? real(name) : absent; }

bool Args::flag(const char* name, bool absent) const {
  if (!has(name)) return absent;
  const Value& v = value(name);
  if (!v.is<bool>()) unsupported(std::string(name) + " that is no bool");
  return v.get<bool>();
}
std::string Args::text(const char* name, const std::string& absent) const {
  if (!has(name)) return absent;
  const Value& v = value(name);
  if (!v.is<std::string>()) unsupported(std::string(name) + " that is no text");
  return v.get<std::string>();
}
std::optional<DType> Args::dtype(const char* name) const {
  if (!has(name)) return {};
  const Value& v = value(name);
  if (!v.is<DType>()) unsupported(std::string(name) + " that is no dtype");
  return v.get<DType>();
}

IntVec Args::ints(const char* name) const {
  const Value& v = value(name);
  if (v.is<std::int64_t>()) return {v.get<std::int64_t>()};
  if (!v.is<List>()) unsupported(std::string(name) + " that is no list of integers");
  IntVec out;
  for (const Value& i : v.get<List>()) {
    if (!i.is<std::int64_t>()) unsupported(std::string(name) + " with an entry that is no integer");
    out.push_back(i.get<std::int64_t>());
  }
  return out;
}
IntVec Args::ints(const char* name, IntVec absent) const { return has(name) ? ints(name) : absent; }
IntVec Args::ints_n(const char* name, std::size_t n, std::int64_t absent) const {
  if (!has(name)) return IntVec(n, absent);
  if (!value(name).is<List>()) return IntVec(n, integer(name));
  IntVec out = ints(name);
  return out.size() == 1 ? IntVec(n, out[0]) : out;
}

}  // namespace oracle
