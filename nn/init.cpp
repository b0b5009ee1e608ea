#include <taper/grad_mode.h>
#include <taper/nn/init.h>
#include <taper/nn/module.h>

#include <cmath>

namespace taper::nn::init {

namespace {

double kaiming_deviation(const Tensor& t, const KaimingOptions& o) {
  const Fans fans = calculate_fan_in_and_fan_out(t);
  const std::int64_t fan = o.mode == FanMode::fan_in ? fans.in : fans.out;
  return calculate_gain(o.nonlinearity, o.a) / std::sqrt(double(fan));
}
double xavier_deviation(const Tensor& t, double gain) {
  const Fans fans = calculate_fan_in_and_fan_out(t);
  return gain * std::sqrt(2 / double(fans.in + fans.out));
}
/// A uniform distribution on [-b, b] has deviation b / sqrt(3).
double bound(double deviation) { return std::sqrt(3.) * deviation; }

}  // namespace

double calculate_gain(Nonlinearity nonlinearity, std::optional<double> param) {
  switch (nonlinearity) {
    case Nonlinearity::tanh:
      return 5. / 3;
    case Nonlinearity::relu:
      return std::sqrt(2.);
    case Nonlinearity::leaky_relu: {
      const double slope = param.value_or(0.01);
      return std::sqrt(2 / (1 + slope * slope));
    }
    case Nonlinearity::selu:
      return 3. / 4;
    default:
      return 1;
  }
}

Fans calculate_fan_in_and_fan_out(const Tensor& t) {
  check<ShapeError>(t.dim() >= 2, "init: fan in and fan out need a weight [out, in, ...], got ", t.spec());
  std::int64_t window = 1;
  for (const std::int64_t n : t.sizes().subspan(2)) window *= n;
  return {t.size(1) * window, t.size(0) * window};
}

Tensor kaiming_uniform_(Tensor t, const KaimingOptions& options) {
  if (t.numel() == 0) return t;  // its fan may be 0
  const double b = bound(kaiming_deviation(t, options));
  return uniform_(t, -b, b);
}
Tensor kaiming_normal_(Tensor t, const KaimingOptions& options) {
  if (t.numel() == 0) return t;
  return normal_(t, 0, kaiming_deviation(t, options));
}
Tensor xavier_uniform_(Tensor t, double gain) {
  const double b = bound(xavier_deviation(t, gain));
  return t.numel() == 0 ? t : uniform_(t, -b, b);
}
Tensor xavier_normal_(Tensor t, double gain) {
  const double deviation = xavier_deviation(t, gain);
  return t.numel() == 0 ? t : normal_(t, 0, deviation);
}

Tensor uniform_(Tensor t, double a, double b) {
  if (detail::SkipInit::is_active()) return t;
  const NoGradGuard no_grad;
  return t.uniform_(a, b);
}
Tensor normal_(Tensor t, double mean, double std) {
  if (detail::SkipInit::is_active()) return t;
  const NoGradGuard no_grad;
  return t.normal_(mean, std);
}
Tensor constant_(Tensor t, double value) {
  if (detail::SkipInit::is_active()) return t;
  const NoGradGuard no_grad;
  return t.fill_(value);
}
Tensor zeros_(Tensor t) { return constant_(std::move(t), 0); }
Tensor ones_(Tensor t) { return constant_(std::move(t), 1); }

}  // namespace taper::nn::init
