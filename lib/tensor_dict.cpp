#include <taper/serialize.h>

namespace taper {

TensorDict::TensorDict(std::initializer_list<Entry> entries) {
  for (const Entry& e : entries) insert(e.first, e.second);
}

TensorDict::TensorDict(const std::map<std::string, Tensor>& entries) {
  for (const auto& [name, t] : entries) insert(name, t);
}

const Tensor* TensorDict::find(std::string_view name) const {
  const auto place = places_.find(name);
  return place == places_.end() ? nullptr : &entries_[place->second].second;
}

const Tensor& TensorDict::at(std::string_view name) const {
  const Tensor* t = find(name);
  if (!t) raise<IndexError>("TensorDict: there is no tensor '", name, "' among the ", size(), " tensors");
  return *t;
}

Tensor& TensorDict::operator[](std::string_view name) {
  const auto place = places_.find(name);
  if (place != places_.end()) return entries_[place->second].second;
  insert(std::string(name), Tensor());
  return entries_.back().second;
}

void TensorDict::insert(std::string name, Tensor t) {
  check<ValueError>(!contains(name), "TensorDict: the name '", name, "' is taken");
  places_.emplace(name, entries_.size());
  entries_.emplace_back(std::move(name), std::move(t));
}

bool TensorDict::erase(std::string_view name) {
  const auto place = places_.find(name);
  if (place == places_.end()) return false;
  const std::size_t gone = place->second;
  places_.erase(place);
  entries_.erase(entries_.begin() + std::ptrdiff_t(gone));
  for (auto& [other, i] : places_)
    if (i > gone) --i;
  return true;
}

}  // namespace taper
