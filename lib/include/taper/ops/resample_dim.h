#pragma once
// One dim brought to another size by a sparse matrix: what interpolate() is made of.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace taper {

/// Entry i of the result is the sum of weights[t] times entry places[t] of `in`, for t from begins[i] to begins[i + 1].
struct ResampleTaps {
  std::int64_t in = 0;
  std::vector<std::int64_t> begins = {0}, places = {};
  std::vector<double> weights = {};

  std::int64_t out() const { return std::int64_t(begins.size()) - 1; }
  void add(std::int64_t place, double weight) { places.push_back(place), weights.push_back(weight); }
  void end_entry() { begins.push_back(std::int64_t(places.size())); }
  /// What takes the result's gradient to that of the argument.
  ResampleTaps transposed() const;
};

/// A matrix for one dim, and its transpose where that is known: the derivative is made of it.
struct Resampling {
  using plain_argument = void;
  std::int64_t dim = 0;
  std::shared_ptr<const ResampleTaps> taps, transposed;
};

namespace ops {
extern StructuredOp<Tensor(Tensor, Resampling)> resample;
}  // namespace ops

}  // namespace taper
