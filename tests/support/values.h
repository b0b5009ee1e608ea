#pragma once
#include <taper/factory.h>

#include <vector>

/// A tensor's elements as doubles, in row-major order.
inline std::vector<double> values(const taper::Tensor& t) { return t.detach().to(taper::float64).to_vector<double>(); }
using Values = std::vector<double>;
