#pragma once
#include <optional>
#include <random>

#include "program.h"
#include "reference.h"

namespace fuzz {

/// Proposes steps that fit the tensors the reference has; most of them are programs.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed), higher_(chance(35)) {}

  int length() { return int(between(3, 40)); }
  std::optional<Step> propose(Reference& state);
  /// What a program ends with: a backward pass from what it made last.
  std::optional<Step> last_pass(Reference& state);

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + std::int64_t(random_() % std::uint64_t(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  double number();
  Ints shape(int most_dims);
  template <class T>
  const T& one_of(const std::vector<T>& from) {
    return from[std::size_t(between(0, std::int64_t(from.size()) - 1))];
  }
  int variable(const Reference& state);
  int derived(const Reference& state);
  int like(const Reference& state, const Ints& shape, bool broadcast);
  int made() { return next_++; }

  Step leaf();
  Step function(const Reference& state);
  std::optional<Step> out_of_place(Reference& state);
  std::optional<Step> in_place(Reference& state);
  std::optional<Step> assignment(Reference& state);
  std::optional<Step> view(Reference& state);
  std::optional<Step> several(Reference& state);
  std::optional<Step> change(Reference& state);
  std::optional<Step> pass(Reference& state, int root);
  void number_arguments(Step& s);

  std::mt19937_64 random_;
  bool higher_;  // whether this program is about higher derivatives
  int next_ = 0;
  std::vector<int> derived_;  // results of recorded passes
  int differentiated_ = -1;   // where the last of them started
};

}  // namespace fuzz
