// Gradients against differences: for every element of every input, or for each input along a random direction.
#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>

#include <cmath>
#include <numeric>

#include "differences.h"

namespace taper::autograd {
namespace {

Function listed(const std::function<Tensor(const TensorList&)>& fn) {
  return [fn](const TensorList& in) { return TensorList{fn(in)}; };
}

double dot(const double* a, const double* b, std::size_t n) { return std::inner_product(a, a + n, b, 0.0); }

/// Numbers between 0.5 and 1.5 of both signs, always the same ones: no program's random numbers are used up.
Numbers weights(std::size_t n, std::uint64_t seed) {
  Numbers out(n);
  std::uint64_t state = (seed + 1) * 0x9E3779B97F4A7C15ull;
  for (double& w : out) {  // Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators"
    std::uint64_t z = state += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    w = (0.5 + double(z >> 11) * 0x1p-53) * (z & 1 ? 1 : -1);
  }
  return out;
}

/// A floating tensor of y's shape and device with these elements, row-major.
Tensor tensor_of(const double* values, const Tensor& y, DType dtype) {
  Tensor t = zeros(y.sizes(), float64, cpu);
  std::copy_n(values, t.numel(), t.mutable_data<double>());
  return t.to(y.device(), dtype);
}

std::string name_of_parameter(const GradcheckOptions& options, std::size_t i) {
  return i < options.parameter_names.size() ? options.parameter_names[i] : std::to_string(i);
}

/// A floating result. Its elements are rows of the Jacobian, from `first` on.
struct Output {
  Tensor tensor;
  std::string name;
  std::size_t first = 0;
  std::size_t size() const { return std::size_t(tensor.numel()); }
};

/// A derivative that is wrong, or that does not exist.
struct Finding {
  bool found = false, at_kink = false;
  double excess = 0, analytic = 0, numeric = 0, left = 0, right = 0;
  std::size_t variable = 0, output = 0;
  std::optional<std::int64_t> element = {}, output_element = {};  // absent: a combination of all
};

class Check {
 public:
  Check(const char* op, Function fn, const TensorList& inputs, const GradcheckOptions& options)
      : op_(op), fn_(std::move(fn)), options_(options), inputs_(inputs), differences_(op, fn_, inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].defined() && inputs[i].requires_grad()) differences_.add_argument(i, "input " + std::to_string(i));
    for (std::size_t i = 0; i < options.parameters.size(); ++i)
      if (const Tensor& p = options.parameters[i]; p.defined() && p.requires_grad())
        differences_.add_parameter(p, "parameter " + name_of_parameter(options, i));
    check<AutogradError>(!variables_.empty(), op_,
                         ": no input requires grad, so there is nothing to check; call requires_grad_() on one");
  }

  // What gradgradcheck has to say differently.
  void rename_variable(std::size_t i, std::string name) { variables_[i].name = std::move(name); }
  void name_outputs(std::vector<std::string> names) { output_names_ = std::move(names); }
  /// A variable may have no influence if another has: a linear function's gradient does not depend on the input.
  void allow_some_zero() { some_zero_ = true; }

  void run() {
    record();
    check_repeats();
    if (options_.fast_mode) {
      compare_combinations();
      const Finding combination = wrong_.found ? wrong_ : kink_;
      if (!combination.found) return check_influence();
      // To name the one, all are compared, in a new graph: moving inputs wrote to what this one has saved.
      wrong_ = kink_ = {};
      outputs_.clear(), noise_.clear();
      record();
      compare_elements();
      if (!wrong_.found && !kink_.found) raise_finding(combination);
    } else {
      compare_elements();
    }
    if (wrong_.found) raise_finding(wrong_);
    if (kink_.found) raise_finding(kink_);
    check_influence();
  }

 private:
  // ---- The function ----

  void record() {
    const EnableGradGuard recording;
    const TensorList results = fn_(inputs_);
    std::size_t rows = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
      check<ValueError>(results[i].defined(), op_, ": output ", std::int64_t(i), " of the function is undefined");
      if (!is_floating(results[i].dtype())) continue;
      outputs_.push_back(
          {results[i], i < output_names_.size() ? output_names_[i] : "output " + std::to_string(i), rows});
      rows += outputs_.back().size();
    }
    check<AutogradError>(rows > 0, op_, ": the function has no floating output element, so there is nothing to check");
    std::size_t elements = 0;
    for (const Variable& v : variables_) elements += v.offsets.size();
    check<AutogradError>(elements > 0, op_,
                         ": no input that requires grad has an element, so there is nothing to check");
    influence_.resize(variables_.size());

    const Numbers& base = differences_.start();
    check<AutogradError>(base.size() == rows, op_, ": the function makes ", std::int64_t(rows),
                         " floating elements when it is recorded and ", std::int64_t(base.size()), " otherwise");
    for (const Output& y : outputs_) {
      const double precision = y.tensor.dtype() == float64 ? 0x1p-52 : 0x1p-23;
      const Numbers recorded = y.tensor.detach().to(float64).to_vector<double>();
      for (std::size_t o = 0; o < y.size(); ++o) {
        const double a = recorded[o], b = base[y.first + o], size = std::max(1.0, std::abs(a));
        check<AutogradError>(a == b || (std::isnan(a) && std::isnan(b)) ||
                                 std::abs(a - b) <= options_.nondet_tol + 1024 * precision * size,
                             op_, ": two calls of the function with the same inputs disagree: element ",
                             IntSpan(place(y.tensor.sizes(), std::int64_t(o))), " of ", y.name, " was ", a, " and ", b,
                             "; if it draws random numbers, call manual_seed() within it");
        noise_.push_back(64 * precision * (std::isfinite(b) ? size : 1.0) / options_.eps);
      }
    }
  }

  // ---- Its gradients ----

  /// The gradients of one output, weighted by `seed`, by all variables, row-major.
  std::vector<Numbers> gradients(const Output& y, const double* seed) const {
    std::vector<Numbers> all;
    for (const Variable& v : variables_) all.emplace_back(v.offsets.size());
    if (!y.tensor.requires_grad()) return all;
    TensorList wrt;
    for (const Variable& v : variables_) wrt.push_back(v.tensor);
    const TensorList g = grad({y.tensor}, wrt, {tensor_of(seed, y.tensor, y.tensor.dtype())},
                              {.retain_graph = true, .allow_unused = true});
    for (std::size_t k = 0; k < g.size(); ++k)
      if (g[k].defined()) all[k] = g[k].detach().to_vector<double>();
    return all;
  }

  void check_repeats() const {
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      const Output& y = outputs_[o];
      const Numbers seed = weights(y.size(), o);
      const auto once = gradients(y, seed.data()), again = gradients(y, seed.data());
      for (std::size_t k = 0; k < once.size(); ++k)
        for (std::size_t i = 0; i < once[k].size(); ++i) {
          const double a = once[k][i], b = again[k][i];
          check<AutogradError>((std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= options_.nondet_tol || a == b,
                               op_, ": two backward passes over one graph disagree: the gradient of ", y.name,
                               " by element ", IntSpan(place(variables_[k].tensor.sizes(), std::int64_t(i))), " of ",
                               variables_[k].name, " was ", a, " and ", b,
                               "; a difference that is expected is allowed by nondet_tol");
        }
    }
  }

  // ---- The comparison ----

  void compare_elements() {
    // All gradients first: moving an input writes to what the graph has saved.
    std::vector<std::vector<Numbers>> jacobian;  // [row][variable][element]
    for (const Output& y : outputs_)
      for (std::size_t o = 0; o < y.size(); ++o) {
        Numbers one(y.size());
        one[o] = 1;
        jacobian.push_back(gradients(y, one.data()));
      }
    const Numbers unit = {1};
    for (std::size_t k = 0; k < variables_.size(); ++k)
      for (std::size_t i = 0; i < variables_[k].offsets.size(); ++i) {
        const Slopes near = differences_.slopes(variables_[k], i, unit, options_.eps);
        std::optional<Slopes> far;
        for (std::size_t y = 0; y < outputs_.size(); ++y)
          for (std::size_t o = 0; o < outputs_[y].size(); ++o) {
            const std::size_t row = outputs_[y].first + o;
            const auto wide = [&] {
              if (!far) far = differences_.slopes(variables_[k], i, unit, 10 * options_.eps);
              return std::pair(far->left[row], far->right[row]);
            };
            judge({.analytic = jacobian[row][k][i],
                   .numeric = near.both[row],
                   .left = near.left[row],
                   .right = near.right[row],
                   .variable = k,
                   .output = y,
                   .element = std::int64_t(i),
                   .output_element = std::int64_t(o)},
                  noise_[row], options_.rtol, wide);
          }
      }
  }

  /// For each variable and output one number: weights of the rows, times Jacobian, times weights of the elements.
  void compare_combinations() {
    std::vector<Numbers> seeds;
    std::vector<std::vector<Numbers>> passes;  // [output][variable]
    for (std::size_t y = 0; y < outputs_.size(); ++y) {
      seeds.push_back(weights(outputs_[y].size(), y));
      passes.push_back(gradients(outputs_[y], seeds[y].data()));
    }
    for (std::size_t k = 0; k < variables_.size(); ++k) {
      const std::size_t n = variables_[k].offsets.size();
      if (n == 0) continue;
      const Numbers direction = weights(n, 1000 + k);
      const Slopes near = differences_.slopes(variables_[k], 0, direction, options_.eps);
      std::optional<Slopes> far;
      for (std::size_t y = 0; y < outputs_.size(); ++y) {
        const std::size_t first = outputs_[y].first, rows = outputs_[y].size();
        if (rows == 0) continue;
        const auto combined = [&](const Numbers& row) { return dot(seeds[y].data(), row.data() + first, rows); };
        const auto wide = [&] {
          if (!far) far = differences_.slopes(variables_[k], 0, direction, 10 * options_.eps);
          return std::pair(combined(far->left), combined(far->right));
        };
        double noise = 0;
        for (std::size_t o = 0; o < rows; ++o) noise += noise_[first + o];
        // One wrong derivative among many must show, so the relative tolerance is that of one term of the sum.
        judge({.analytic = dot(passes[y][k].data(), direction.data(), n),
               .numeric = combined(near.both),
               .left = combined(near.left),
               .right = combined(near.right),
               .variable = k,
               .output = y},
              noise, options_.rtol / std::sqrt(double(n * rows)), wide);
      }
    }
  }

  /// Notes the derivative if it is the worst so far. `wide()` has the left and right slopes over ten times h.
  template <class Wide>
  void judge(Finding f, double noise, double rtol, const Wide& wide) {
    if (f.analytic != 0 || f.numeric != 0) influence_[f.variable] = true;
    double excess = std::abs(f.analytic - f.numeric) - options_.atol - rtol * std::abs(f.numeric);
    if (std::isnan(excess)) excess = HUGE_VAL;
    const double gap = std::abs(f.right - f.left);
    const double bend = options_.atol + options_.rtol * std::max(std::abs(f.left), std::abs(f.right)) + noise;
    bool jumps = false;
    if (std::isfinite(f.left) != std::isfinite(f.right)) {
      f.at_kink = true;
      f.left = f.right = std::isfinite(f.left) ? f.left : f.right;
    } else if (gap > bend || excess > 0) {
      // Where the function bends, the difference between the slopes shrinks with h. At a kink it stays, and at a jump
      // the slopes themselves grow as h shrinks.
      const auto [left, right] = wide();
      const auto grows = [&](double near, double far) {
        return std::abs(near) > bend && std::abs(10 * far - near) < 0.5 * std::abs(near);
      };
      jumps = grows(f.left, left) || grows(f.right, right);
      f.at_kink = jumps || (gap > bend && gap > 0.5 * std::abs(right - left));
    }
    if (f.at_kink) {  // no slope over a jump is wrong
      const double low = std::min(f.left, f.right), high = std::max(f.left, f.right);
      excess = std::max(low - f.analytic, f.analytic - high) - options_.atol -
               rtol * std::max(std::abs(low), std::abs(high));
      if (jumps) excess = 0;
    }
    f.excess = excess;
    if (excess > 0 && excess > wrong_.excess) {
      wrong_ = f;
      wrong_.found = true;
    } else if (f.at_kink && options_.at_kink == AtKink::refuse && !kink_.found) {
      kink_ = f;
      kink_.found = true;
    }
  }

  [[noreturn]] void raise_finding(const Finding& f) const {
    const Variable& v = variables_[f.variable];
    const Output& y = outputs_[f.output];
    std::string message;
    const auto say = [&](const auto&... parts) { (append_to(message, parts), ...); };
    const auto say_place = [&](const std::optional<std::int64_t>& i, const Tensor& t) {
      if (i)
        say(" at ", IntSpan(place(t.sizes(), *i)));
      else
        say(" (a combination of all elements)");
    };
    say(op_, ": the gradient of ", y.name);
    say_place(f.output_element, y.tensor);
    say(" by ", v.name);
    say_place(f.element, v.tensor);
    say(" (", v.tensor.spec(), ") ");
    const bool is_kink = f.at_kink && f.excess <= 0;
    if (is_kink)
      say("does not exist: the slope is ", f.left, " to the left and ", f.right,
          " to the right; move the input away, or pass {.at_kink = AtKink::accept_between}");
    else if (f.at_kink)
      say("is ", f.analytic, ", which is not between the slopes to the left, ", f.left, ", and to the right, ",
          f.right);
    else
      say("is ", f.analytic, " but differences say ", f.numeric);
    if (!is_kink && !y.tensor.requires_grad())
      say("; ", y.name, " does not require grad: was it computed under NoGradGuard or from detach()?");
    GradcheckError error(message);
    error.input = v.name, error.output = y.name;
    if (f.element) error.element = place(v.tensor.sizes(), *f.element);
    if (f.output_element) error.output_element = place(y.tensor.sizes(), *f.output_element);
    error.analytic = f.analytic, error.numeric = f.numeric, error.at_kink = f.at_kink;
    throw error;
  }

  void check_influence() const {
    if (options_.allow_zero) return;
    bool any = false;
    for (const bool has : influence_) any |= has;
    for (std::size_t k = 0; k < variables_.size(); ++k)
      check<AutogradError>(influence_[k] || (some_zero_ && any) || variables_[k].offsets.empty(), op_,
                           ": every derivative by ", variables_[k].name, " (", variables_[k].tensor.spec(),
                           ") is zero, which proves nothing; choose inputs that the results depend on, or pass "
                           "{.allow_zero = true} if none can");
  }

  const char* op_;
  Function fn_;
  const GradcheckOptions& options_;
  TensorList inputs_;
  Differences differences_;
  std::vector<Variable>& variables_ = differences_.variables();
  std::vector<std::string> output_names_;
  bool some_zero_ = false;
  std::vector<Output> outputs_;
  Numbers noise_;  // of each row: what rounding may add to a slope
  std::vector<bool> influence_;
  Finding wrong_, kink_;
};

bool run(Check& check, const GradcheckOptions& options) {
  try {
    check.run();
  } catch (const GradcheckError&) {
    if (options.raise_exception) throw;
    return false;
  }
  return true;
}

}  // namespace

bool gradcheck(const Function& fn, const TensorList& inputs, const GradcheckOptions& options) {
  Check check("gradcheck", fn, inputs, options);
  return run(check, options);
}

bool gradcheck(const std::function<Tensor(const TensorList&)>& fn, const TensorList& inputs,
               const GradcheckOptions& options) {
  return gradcheck(listed(fn), inputs, options);
}

bool gradgradcheck(const Function& fn, const TensorList& inputs, const GradcheckOptions& options) {
  // What is checked is the function (inputs, seeds) -> gradients of the weighted outputs by inputs and parameters.
  const EnableGradGuard recording;
  const std::size_t n = inputs.size();
  TensorList all = inputs;
  std::vector<std::string> seed_names;
  const TensorList outputs = fn(inputs);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const Tensor& y = outputs[o];
    if (!y.defined() || !is_floating(y.dtype()) || !y.requires_grad()) {
      all.emplace_back();
      continue;
    }
    const Numbers seed = weights(std::size_t(y.numel()), 2000 + o);
    all.push_back(tensor_of(seed.data(), y, float64).requires_grad_());
    seed_names.push_back("the gradient given for output " + std::to_string(o));
  }
  check<AutogradError>(!seed_names.empty(), "gradgradcheck: no output of the function requires grad");

  const auto wants = [](const Tensor& t) { return t.defined() && t.requires_grad(); };
  const Function second = [&](const TensorList& in) {
    const bool record = GradMode::is_enabled();
    const EnableGradGuard recording_forward;
    const TensorList outs = fn(TensorList(in.begin(), in.begin() + std::ptrdiff_t(n)));
    TensorList wrt, roots, seeds;
    for (std::size_t i = 0; i < n; ++i)
      if (wants(inputs[i])) wrt.push_back(in[i]);
    for (const Tensor& p : options.parameters)
      if (wants(p)) wrt.push_back(p);
    for (std::size_t o = 0; o < outs.size(); ++o)
      if (in[n + o].defined()) {
        roots.push_back(outs[o]);
        seeds.push_back(in[n + o].to(outs[o].dtype()));
      }
    TensorList g = grad(roots, wrt, seeds, {.create_graph = record, .allow_unused = true});
    for (std::size_t k = 0; k < g.size(); ++k)
      if (!g[k].defined()) g[k] = zeros_like(wrt[k]);
    return g;
  };

  Check check("gradgradcheck", second, all, options);
  std::vector<std::string> names;
  std::size_t variables = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (wants(inputs[i])) names.push_back("the gradient of input " + std::to_string(i)), ++variables;
  for (std::size_t i = 0; i < seed_names.size(); ++i) check.rename_variable(variables + i, seed_names[i]);
  for (std::size_t i = 0; i < options.parameters.size(); ++i)
    if (wants(options.parameters[i])) names.push_back("the gradient of parameter " + name_of_parameter(options, i));
  check.name_outputs(std::move(names));
  check.allow_some_zero();
  return run(check, options);
}

bool gradgradcheck(const std::function<Tensor(const TensorList&)>& fn, const TensorList& inputs,
                   const GradcheckOptions& options) {
  return gradgradcheck(listed(fn), inputs, options);
}

}  // namespace taper::autograd
