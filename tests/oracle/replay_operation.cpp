// Operation and error cases: one call, with everything that can be asked about it.
#include <taper/autograd/engine.h>
#include <taper/error.h>

#include <algorithm>

#include "replay.h"

namespace oracle {
namespace {

/// Losses that compare two tensors element by element. The reference broadcasts them; here their shapes must be equal,
/// since a broadcast loss is nearly always a mistake.
bool compares_elements(const std::string& op) {
  static const char* const losses[] = {"mse_loss",
                                       "l1_loss",
                                       "smooth_l1_loss",
                                       "huber_loss",
                                       "soft_margin_loss",
                                       "binary_cross_entropy",
                                       "binary_cross_entropy_with_logits",
                                       "kl_div",
                                       "poisson_nll_loss",
                                       "hinge_embedding_loss"};
  return std::find(std::begin(losses), std::end(losses), op) != std::end(losses);
}
bool is_broadcast_loss(const Json& record) {
  const Json& args = record.at("args");
  return compares_elements(record.at("op").get<std::string>()) && args.contains("input") && args.contains("target") &&
         args.at("input").at("shape") != args.at("target").at("shape");
}

/// The reference's addbmm_ gives the tensor it writes to another shape where that broadcasts.
bool changes_shape(const Json& record) {
  return record.at("op") == "addbmm" && record.at("out").size() == 1 && record.at("out")[0].is_object() &&
         record.at("out")[0].at("shape") != record.at("args").at("input").at("shape");
}

std::string place(std::size_t i) { return "out[" + std::to_string(i) + "]"; }

class Operation {
 public:
  explicit Operation(const Context& c) : c_(c), r_(c.record), op_(r_.at("op").get<std::string>()) {}

  void replay() {
    if (!c_.ops.find(op_)) throw Skip{"op " + op_};
    if (is_broadcast_loss(r_)) return replay_refused_broadcast();
    check_call();
    if (r_.contains("grad2")) check_second_gradients();
    if (r_.contains("inplace")) check_inplace();
  }

 private:
  Tolerance tol(const char* which) const {
    const Json& t = r_.at("tol");
    return t.contains(which) ? tolerance(t.at(which)) : tolerance(t.at("out"));
  }

  void replay_refused_broadcast() {
    Decoder decoder(c_.archive);
    const Args args = decoder.args(op_, r_.at("args"));
    try {
      c_.ops.call(args);
    } catch (const taper::ShapeError&) {
      return;
    }
    throw Failure{"accepts input and target of different shapes"};
  }

  void check_outputs(const Outputs& out) {
    const Json& want = r_.at("out");
    if (out.size() != want.size())
      throw Failure{std::to_string(out.size()) + " outputs, expected " + std::to_string(want.size())};
    for (std::size_t i = 0; i < out.size(); ++i) expect_output(c_, place(i), out[i], want[i], tol("out"));
  }

  void check_views(const Outputs& out, const Tensor& base) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Json& want = r_.at("out")[i];
      if (!want.is_object() || !out[i].is<Tensor>()) continue;
      const Tensor& t = out[i].get<Tensor>();
      if (!want.contains("view")) {
        if (c_.family == "view" && t.numel() > 0 && t.is_alias_of(base))
          throw Failure{place(i) + " shares memory with its argument"};
        continue;
      }
      const Json& view = want.at("view");
      if (!t.is_alias_of(base)) throw Failure{place(i) + " is no view of its argument"};
      if (t.strides().vec() != view.at("stride").get<IntVec>())
        throw Failure{place(i) + ": strides " + to_text(t.strides()) + ", expected " + view.at("stride").dump()};
      if (t.storage_offset() != view.at("offset").get<std::int64_t>())
        throw Failure{place(i) + ": offset " + std::to_string(t.storage_offset()) + ", expected " +
                      view.at("offset").dump()};
    }
  }

  /// Compares gradients of `roots` by path with a record of some of them.
  void check_gradients(const std::string& what, const std::vector<Leaf>& leaves, const TensorList& got,
                       const Json& want, Tolerance t) {
    for (const auto& [path, spec] : want.items()) {
      const auto leaf = std::find_if(leaves.begin(), leaves.end(), [&](const Leaf& l) { return l.path == path; });
      if (leaf == leaves.end()) throw Failure{what + " of " + path + ", which is no leaf"};
      expect(c_, what + " of " + path, got[std::size_t(leaf - leaves.begin())], spec, t);
    }
  }

  /// The outputs that have a cotangent, with it.
  std::pair<TensorList, TensorList> roots(const Outputs& out) {
    TensorList of, cotangents;
    Decoder decoder(c_.archive);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Json& spec = r_.at("cotangents")[i];
      if (spec.is_null()) continue;
      of.push_back(out[i].get<Tensor>());
      cotangents.push_back(decoder.tensor(spec));
    }
    return {of, cotangents};
  }
  static TensorList tensors_of(const std::vector<Leaf>& leaves) {
    TensorList ts;
    for (const Leaf& l : leaves) ts.push_back(l.tensor);
    return ts;
  }
  bool any_gradient() const {
    for (const auto& [path, spec] : r_.at("grads").items())
      if (!spec.is_null()) return true;
    return false;
  }

  void check_call() {
    Decoder decoder(c_.archive);
    const Args args = decoder.args(op_, r_.at("args"));
    std::vector<std::pair<std::string, Snapshot>> before;
    for (const Leaf& l : decoder.tensors) before.emplace_back(l.path, l.tensor);

    const Outputs out = c_.ops.call(args);

    check_outputs(out);
    if (!decoder.tensors.empty()) check_views(out, decoder.tensors[0].tensor);
    const Json mutated = r_.value("mutated", Json::object());
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto& [path, snapshot] = before[i];
      if (mutated.contains(path)) {
        expect(c_, path + " afterwards", decoder.tensors[i].tensor, mutated.at(path), tol("out"));
      } else if (const std::string change = snapshot.change(may_be_written(path)); !change.empty()) {
        throw Failure{"changes its argument " + path + ": " + change};
      }
    }
    if (r_.contains("grads") && any_gradient()) check_first_gradients(out, decoder.leaves);
  }

  /// Whether the call may write this argument, though it may happen to write what is there already.
  bool may_be_written(const std::string& path) const {
    return (path == "input" && op_.back() == '_') || path == "running_mean" || path == "running_var";
  }

  void check_first_gradients(const Outputs& out, const std::vector<Leaf>& leaves) {
    const auto [of, cotangents] = roots(out);
    const TensorList wrt = tensors_of(leaves);
    const TensorList got = taper::autograd::grad(of, wrt, cotangents, {.retain_graph = true, .allow_unused = true});
    check_gradients("gradient", leaves, got, r_.at("grads"), tol("grad"));
    taper::autograd::backward(of, cotangents);
    TensorList accumulated;
    for (const Tensor& t : wrt) accumulated.push_back(t.grad());
    check_gradients(".grad", leaves, accumulated, r_.at("grads"), tol("grad"));
  }

  void check_second_gradients() {
    Decoder decoder(c_.archive);
    const Outputs out = c_.ops.call(decoder.args(op_, r_.at("args")));
    const std::vector<Leaf>& leaves = decoder.leaves;
    const TensorList wrt = tensors_of(leaves);
    const auto [of, cotangents] = roots(out);
    const TensorList first = taper::autograd::grad(of, wrt, cotangents, {.create_graph = true, .allow_unused = true});
    TensorList roots, weights;
    Decoder constants(c_.archive);
    for (const auto& [path, spec] : r_.at("grad2").at("cotangents").items())
      for (std::size_t i = 0; i < leaves.size(); ++i)
        if (leaves[i].path == path && first[i].defined() && first[i].requires_grad()) {
          roots.push_back(first[i]);
          weights.push_back(constants.tensor(spec));
        }
    TensorList second(wrt.size());
    if (!roots.empty()) second = taper::autograd::grad(roots, wrt, weights, {.allow_unused = true});
    // Whether a second gradient of zero is connected depends on how a rule is written: zero and none are the same here.
    Json want = Json::object();
    for (const auto& [path, spec] : r_.at("grad2").at("grads").items()) {
      const auto leaf = std::find_if(leaves.begin(), leaves.end(), [&](const Leaf& l) { return l.path == path; });
      if (leaf == leaves.end()) throw Failure{"second gradient of " + path + ", which is no leaf"};
      const Tensor& got = second[std::size_t(leaf - leaves.begin())];
      if (got.defined() != spec.is_null()) {
        want[path] = spec;
      } else if (spec.is_null() ? !is_zero(got) : !is_zero(c_.archive.array(spec))) {
        throw Failure{"second gradient of " + path + (spec.is_null() ? " is not zero" : " is missing")};
      }
    }
    check_gradients("second gradient", leaves, second, want, tol("grad2"));
  }
  static bool is_zero(const Tensor& t) { return t.device().is_meta() || is_zero(read(t)); }
  static bool is_zero(const Array& a) {
    return std::all_of(a.reals.begin(), a.reals.end(), [](double v) { return v == 0; });
  }

  void check_inplace() {
    const std::string name = op_ + "_";
    if (!c_.ops.find(name)) {
      c_.partial.push_back("op " + name);
      return;
    }
    try {
      const bool throws = r_.at("inplace") == "throws" || changes_shape(r_);
      throws ? check_inplace_refusal(name) : check_inplace_result(name);
    } catch (const Skip& skip) {
      c_.partial.push_back("in place: " + skip.reason);
    } catch (const Failure& failure) {
      throw Failure{name + ": " + failure.what};
    } catch (const taper::Error& e) {
      throw Failure{name + " throws: " + e.what()};
    }
  }

  void check_inplace_result(const std::string& name) {
    Decoder decoder(c_.archive);
    Args args = decoder.args(name, r_.at("args"));
    const Tensor x = args.tensor("input").clone();
    args.set("input", {x});
    const Outputs out = c_.ops.call(args);
    if (out.size() != 1 || !out[0].is<Tensor>() || !out[0].get<Tensor>().is_same(x))
      throw Failure{"does not return its argument"};
    check_outputs(out);
    if (r_.contains("grads") && any_gradient()) {
      const auto [of, cotangents] = roots(out);
      check_gradients("gradient", decoder.leaves,
                      taper::autograd::grad(of, tensors_of(decoder.leaves), cotangents, {.allow_unused = true}),
                      r_.at("grads"), tol("grad"));
    }
  }

  void check_inplace_refusal(const std::string& name) {
    Decoder decoder(c_.archive);
    Args args = decoder.args(name, r_.at("args"));
    const Tensor x = args.tensor("input").clone();
    args.set("input", {x});
    const Snapshot before(x);
    try {
      c_.ops.call(args);
    } catch (const taper::Error&) {
      if (const std::string change = before.change(); !change.empty())
        throw Failure{"changes its argument although it throws: " + change};
      return;
    }
    throw Failure{"does not throw"};
  }

  const Context& c_;
  const Json& r_;
  const std::string op_;
};

}  // namespace

bool needs_values(const std::string& id) {
  static const char* const ops[] = {"nonzero", "masked_select", "unique",    "item",
                                    "to_bool", "equal",         "allclose",  "bincount",
                                    "one_hot", "getitem",       "index_put", "repeat_interleave"};
  return std::any_of(std::begin(ops), std::end(ops), [&](const std::string& op) {
    return id.starts_with(op + "/") || id.starts_with("dtype." + op + "/");
  });
}

void replay_operation(const Context& c) {
  try {
    Operation(c).replay();
  } catch (const Failure&) {
    if (!c.record.value("legacy", false)) throw;
  }
}

void replay_error(const Context& c) {
  const Json& r = c.record;
  const std::string op = r.at("op").get<std::string>();
  if (!c.ops.find(op)) throw Skip{"op " + op};
  Decoder decoder(c.archive);
  const Args args = decoder.args(op, r.at("args"));
  std::vector<std::pair<std::string, Snapshot>> before;
  for (const Leaf& l : decoder.tensors) before.emplace_back(l.path, l.tensor);
  const bool enforced = r.value("strict", true) && !r.value("legacy", false);
  try {
    c.ops.call(args);
  } catch (const taper::Error&) {
    for (const auto& [path, snapshot] : before)
      if (const std::string change = snapshot.change(); !change.empty())
        throw Failure{"changes its argument " + path + " although it throws: " + change};
    return;
  }
  if (enforced) throw Failure{"is accepted; the reference refuses: " + r.at("throws").at("message").get<std::string>()};
}

}  // namespace oracle
