// Start values with more structure than independent draws have.
#include <taper/factory.h>
#include <taper/grad_mode.h>
#include <taper/nn/init.h>
#include <taper/nn/module.h>
#include <taper/random.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "init_checks.h"

namespace taper::nn::init {

namespace {

void check_matrix(const char* function, const Tensor& t) {
  check_weight(function, t);
  check<ShapeError>(t.dim() == 2, "init.", function, ": the weight must be a matrix [out, in], got ", t.spec());
}

/// The share of a standard normal distribution below x.
double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.)) / 2; }

/// Makes the rows of a, [n, m], float64, contiguous, orthonormal among themselves.
void orthonormalize(Tensor& a) {
  const std::int64_t n = a.size(0), m = a.size(1);
  double* const data = a.mutable_data<double>();
  for (std::int64_t i = 0; i < n; ++i) {
    double* row = data + i * m;
    const auto dot = [m](const double* x, const double* y) {
      double sum = 0;
      for (std::int64_t k = 0; k < m; ++k) sum += x[k] * y[k];
      return sum;
    };
    for (std::int64_t j = 0; j < i; ++j) {
      const double* done = data + j * m;
      const double share = dot(row, done);
      for (std::int64_t k = 0; k < m; ++k) row[k] -= share * done[k];
    }
    const double length = std::sqrt(dot(row, row));
    for (std::int64_t k = 0; k < m; ++k) row[k] /= length;
  }
}

/// n orthonormal rows of length m >= n, from a Gaussian matrix by Gram and Schmidt's process, in blocks so that most of
/// the work is matrix products.
Tensor orthonormal_rows(std::int64_t n, std::int64_t m) {
  constexpr std::int64_t kBlock = 32;
  const Tensor all = randn({n, m}, {.dtype = float64, .device = cpu});
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    Tensor block = all.narrow(0, begin, std::min(kBlock, n - begin));
    // Twice: what rounding left of the other directions in the first round is gone after the second.
    for (int round = 0; round < 2; ++round) {
      if (begin > 0) {
        const Tensor done = all.narrow(0, 0, begin);
        block.sub_(block.matmul(done.t()).matmul(done));
      }
      orthonormalize(block);
    }
  }
  return all;
}

}  // namespace

Tensor trunc_normal_(Tensor t, const TruncNormalOptions& options) {
  const auto& [mean, std, a, b] = options;
  check_weight("trunc_normal_", t);
  check<ValueError>(std >= 0 && std::isfinite(std) && std::isfinite(mean), "init.trunc_normal_: mean and std must be ",
                    "finite, and std not negative, got ", mean, " and ", std);
  check<ValueError>(a < b, "init.trunc_normal_: a must be below b, got ", a, " and ", b);
  if (detail::SkipInit::is_active()) return t;
  const NoGradGuard no_grad;
  if (std == 0) return t.fill_(std::clamp(mean, a, b));
  // The inverse of the distribution at uniform numbers: those between the shares below a and below b.
  t.uniform_(2 * normal_cdf((a - mean) / std) - 1, 2 * normal_cdf((b - mean) / std) - 1);
  return t.erfinv_().mul_(std * std::sqrt(2.)).add_(mean).clamp_(a, b);
}

Tensor orthogonal_(Tensor t, double gain) {
  check_weight("orthogonal_", t);
  check<ShapeError>(t.dim() >= 2, "init.orthogonal_: the weight needs two dimensions [out, in, ...], got ", t.spec());
  check<ValueError>(std::isfinite(gain), "init.orthogonal_: gain must be finite, got ", gain);
  if (t.numel() == 0 || detail::SkipInit::is_active()) return t;
  const NoGradGuard no_grad;
  const std::int64_t rows = t.size(0), columns = t.numel() / rows;
  const Tensor q = rows <= columns ? orthonormal_rows(rows, columns) : orthonormal_rows(columns, rows).t();
  return t.copy_(q.mul(gain).reshape(t.sizes()).to(t.device()));
}

Tensor eye_(Tensor t) {
  check_matrix("eye_", t);
  if (detail::SkipInit::is_active()) return t;
  const NoGradGuard no_grad;
  t.zero_();
  t.diagonal().fill_(1);
  return t;
}

Tensor dirac_(Tensor t, std::int64_t groups) {
  check_weight("dirac_", t);
  check<ShapeError>(t.dim() >= 3 && t.dim() <= 5, "init.dirac_: the weight must be [out, in, window...] with one to ",
                    "three dimensions of window, got ", t.spec());
  check<ValueError>(groups > 0 && t.size(0) % groups == 0, "init.dirac_: groups must be positive and divide the ",
                    t.size(0), " outputs, got ", groups);
  if (detail::SkipInit::is_active()) return t;
  const NoGradGuard no_grad;
  t.zero_();
  if (t.numel() == 0) return t;
  Tensor middle = t;  // [out, in]
  while (middle.dim() > 2) middle = middle.select(2, middle.size(2) / 2);
  const std::int64_t outputs = t.size(0) / groups, passed = std::min(outputs, t.size(1));
  for (std::int64_t g = 0; g < groups; ++g) middle.narrow(0, g * outputs, passed).diagonal().fill_(1);
  return t;
}

Tensor sparse_(Tensor t, double sparsity, double std) {
  check_matrix("sparse_", t);
  check<ValueError>(sparsity >= 0 && sparsity <= 1, "init.sparse_: sparsity must be in [0, 1], got ", sparsity);
  check<ValueError>(std >= 0 && std::isfinite(std), "init.sparse_: std must be finite and not negative, got ", std);
  if (detail::SkipInit::is_active()) return t;
  const NoGradGuard no_grad;
  t.normal_(0, std);
  const std::int64_t rows = t.size(0), columns = t.size(1);
  const std::int64_t count = std::int64_t(std::ceil(sparsity * double(rows)));
  Tensor chosen = zeros({rows, columns}, bool_, cpu);
  bool* const flags = chosen.mutable_data<bool>();
  for (std::int64_t column = 0; count > 0 && column < columns; ++column) {
    const std::vector<std::int64_t> order = randperm(rows, {.device = cpu}).to_vector<std::int64_t>();
    for (std::int64_t i = 0; i < count; ++i) flags[order[std::size_t(i)] * columns + column] = true;
  }
  t.masked_fill_(chosen.to(t.device()), 0);
  return t;
}

}  // namespace taper::nn::init
