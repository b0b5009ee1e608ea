// Views: which places of memory they show, and whose history their elements have.
#include "reference.h"
#include "shapes.h"

namespace fuzz {

/// Elements of v that the view shows, and its shape; nothing if the step does not fit v.
std::optional<std::pair<std::vector<int>, Ints>> Reference::positions(const Step& s, const Variable& v) const {
  Ints sizes = v.shape, strides = row_major(v.shape);
  std::int64_t first = 0;
  const auto erase = [&](std::int64_t d) { sizes.erase(sizes.begin() + d), strides.erase(strides.begin() + d); };
  const auto fits = [&](std::int64_t d) { return d >= 0 && d < std::int64_t(v.shape.size()); };
  const auto size = [&](std::int64_t d) { return sizes[std::size_t(d)]; };
  const Ints& i = s.ints;
  switch (s.what) {
    case Do::view_select:
      if (!fits(i[0]) || i[1] >= size(i[0])) return {};
      first = i[1] * strides[std::size_t(i[0])];
      erase(i[0]);
      break;
    case Do::view_slice: {
      if (!fits(i[0])) return {};
      const std::int64_t start = std::min(i[1], size(i[0])), end = std::clamp(i[2], start, size(i[0]));
      first = end > start ? start * strides[std::size_t(i[0])] : 0;
      sizes[std::size_t(i[0])] = (end - start + i[3] - 1) / i[3];
      strides[std::size_t(i[0])] *= i[3];
      break;
    }
    case Do::view_transpose:
      if (!fits(i[0]) || !fits(i[1])) return {};
      std::swap(sizes[std::size_t(i[0])], sizes[std::size_t(i[1])]);
      std::swap(strides[std::size_t(i[0])], strides[std::size_t(i[1])]);
      break;
    case Do::view_diagonal: {
      if (!fits(i[1]) || !fits(i[2]) || i[1] == i[2]) return {};
      const std::int64_t right = std::max<std::int64_t>(i[0], 0), down = std::max<std::int64_t>(-i[0], 0);
      const std::int64_t length = std::max<std::int64_t>(std::min(size(i[1]) - down, size(i[2]) - right), 0);
      const std::int64_t a = strides[std::size_t(i[1])], b = strides[std::size_t(i[2])];
      if (length > 0) first = down * a + right * b;
      erase(std::max(i[1], i[2])), erase(std::min(i[1], i[2]));
      sizes.push_back(length), strides.push_back(a + b);
      break;
    }
    case Do::view_expand: {
      if (s.sizes.size() < sizes.size() || broadcast(sizes, s.sizes) != s.sizes) return {};
      return std::pair(broadcast_positions(v.shape, s.sizes), s.sizes);
    }
    case Do::view_unsqueeze:
      if (i[0] > std::int64_t(sizes.size())) return {};
      sizes.insert(sizes.begin() + i[0], 1), strides.insert(strides.begin() + i[0], 0);
      break;
    case Do::view_squeeze:
      if (!fits(i[0])) return {};
      if (size(i[0]) == 1) erase(i[0]);
      break;
    case Do::view_reshape:
      if (!is_contiguous(v) || count(s.sizes) != v.numel()) return {};
      sizes = s.sizes, strides = row_major(s.sizes);
      break;
    case Do::view_unfold: {
      if (!fits(i[0]) || i[1] > size(i[0])) return {};
      const std::int64_t windows = (size(i[0]) - i[1]) / i[2] + 1, step = strides[std::size_t(i[0])];
      sizes[std::size_t(i[0])] = windows, strides[std::size_t(i[0])] = step * i[2];
      sizes.push_back(i[1]), strides.push_back(step);
      break;
    }
    default:
      return {};
  }
  return std::pair(walk(first, sizes, strides), sizes);
}

/// `shown` are elements of self; -1: memory that self does not show, given by `places`.
int Reference::make_view(int self_index, const std::vector<int>& shown, Ints shape, bool several, const Call& call,
                         int operation) {
  const Variable self = all_[std::size_t(self_index)];
  Variable v;
  v.memory = self.memory;
  v.shape = std::move(shape);
  v.base = self.base >= 0 ? self.base : self_index;
  v.made = !recording() ? Made::without_recording : several ? Made::several : (self.base >= 0 ? self.made : Made::view);
  v.view_version = memory(self).version;
  const Numbers whole = operand(self, call.recorded);
  for (const int i : shown) {
    v.places.push_back(self.places[std::size_t(i)]);
    if (call.recorded) v.ids.push_back(tape_.result(whole[std::size_t(i)]));
  }
  if (call.recorded) v.operation = operation;
  return define(-1, std::move(v));
}

Variable Reference::detached(const Variable& from) {
  Variable v;
  v.memory = from.memory, v.places = from.places, v.shape = from.shape, v.frozen = true;
  return v;
}

Verdict Reference::view(const Step& s) {
  const int self = index(s.in[0]);
  if (s.what == Do::detach) {
    define(s.out[0], detached(all_[std::size_t(self)]));
    return {};
  }
  if (s.what == Do::view_strided) return strided(s);
  const auto shown = positions(s, all_[std::size_t(self)]);
  if (!shown) return {.skipped = true};
  const Call call = begin({self});
  if (call.refused) return {.must = call.refused};
  const int operation = call.recorded ? add({.edges = call.edges}) : -1;
  names_[s.out[0]] = make_view(self, shown->first, shown->second, false, call, operation);
  return {};
}

/// Memory by its places. What self does not show has no history that could be followed.
Verdict Reference::strided(const Step& s) {
  const int self = index(s.in[0]);
  const auto size = std::int64_t(memory(all_[std::size_t(self)]).values.size());
  if (!memory(all_[std::size_t(self)]).row_major) return {.skipped = true};
  const std::vector<int> places = walk(s.ints[0], s.sizes, s.strides);
  for (const int p : places)
    if (p < 0 || p >= size) return {.skipped = true};
  const auto all_within = [&](const Variable& v) {
    return std::all_of(places.begin(), places.end(),
                       [&](int p) { return std::find(v.places.begin(), v.places.end(), p) != v.places.end(); });
  };
  const Call call = begin({self});
  const unsigned refused =
      call.recorded && !all_within(all_[std::size_t(self)]) ? call.refused | kOutside : call.refused;
  if (refused) return {.must = refused};
  const int made = make_view(self, {}, s.sizes, false, call, call.recorded ? add({.edges = call.edges}) : -1);
  Variable& v = all_[std::size_t(made)];
  const Variable& from = all_[std::size_t(self)];
  const Numbers whole = operand(from, call.recorded);
  for (const int p : places) {
    v.places.push_back(p);
    if (call.recorded) v.ids.push_back(showing(from, whole, p));
  }
  names_[s.out[0]] = made;
  return {};
}

Verdict Reference::several(const Step& s) {
  const int self = index(s.in[0]);
  const Variable v = all_[std::size_t(self)];
  const std::int64_t dim = s.what == Do::unbind ? s.ints[0] : s.ints[1];
  if (dim >= std::int64_t(v.shape.size())) return {.skipped = true};
  const std::int64_t size = v.shape[std::size_t(dim)];
  if (size == 0) return {.skipped = true};
  std::vector<Step> parts;
  Step part;
  if (s.what == Do::unbind) {
    part.what = Do::view_select;
    for (std::int64_t i = 0; i < size; ++i) parts.push_back(part), parts.back().ints = {dim, i};
  } else {
    const std::int64_t length = s.what == Do::split ? s.ints[0] : (size + s.ints[0] - 1) / s.ints[0];
    part.what = Do::view_slice;
    for (std::int64_t i = 0; i < size; i += length) parts.push_back(part), parts.back().ints = {dim, i, i + length, 1};
  }
  if (parts.size() != s.out.size()) return {.skipped = true};
  const Call call = begin({self});
  if (call.refused) return {.must = call.refused};
  const int operation = call.recorded ? add({.edges = call.edges}) : -1;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto shown = positions(parts[i], v);
    // Each part has a gradient of its own before they meet in the operation.
    const int part_of = call.recorded ? add({.edges = {operation}, .part = true}) : -1;
    names_[s.out[i]] = make_view(self, shown->first, shown->second, true, call, part_of);
  }
  return {};
}

/// A tensor that is told to show itself in another way.
Verdict Reference::reshape(const Step& s) {
  const int self = index(s.in[0]);
  Variable& v = all_[std::size_t(self)];
  Step part = s;
  part.what = s.op == "transpose" ? Do::view_transpose : s.op == "squeeze" ? Do::view_squeeze : Do::view_unsqueeze;
  const auto shown = positions(part, v);
  if (!shown || memory(v).inference || v.frozen) return {.skipped = true};
  const bool tracked = requires_grad(v);
  if (tracked && !recording()) return {.must = kFrozen};
  const Call call = begin({self});
  unsigned refused = call.refused;
  if (tracked && v.base >= 0) refused |= kView | kLeaf | kOutside | kNoGradView | kSeveral | kOverlap;
  if (tracked && is_leaf(self, refused)) refused |= kLeaf;
  if (tracked && is_lent(v)) refused |= kShared;
  if (refused) return {.must = refused};
  const Numbers before = operand(v, tracked);
  const std::vector<int> places = v.places;
  v.places.clear(), v.ids.clear();
  for (const int i : shown->first) {
    v.places.push_back(places[std::size_t(i)]);
    if (tracked) v.ids.push_back(tape_.result(before[std::size_t(i)]));
  }
  v.shape = shown->second;
  ++memories_[std::size_t(v.memory)].version;
  if (tracked) {
    v.operation = add({.edges = call.edges});
  }
  return {};
}

}  // namespace fuzz
