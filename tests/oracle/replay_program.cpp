// Programs: steps over named variables, with the refusals that must come and those that must not.
#include <taper/autograd/engine.h>
#include <taper/autograd/hooks.h>
#include <taper/error.h>
#include <taper/memory_overlap.h>

#include <functional>
#include <map>
#include <set>

#include "replay.h"

namespace oracle {
namespace {

/// A refusal came or failed to come in a program that leaves it open.
struct Deviation {};

class Program {
 public:
  explicit Program(const Context& c)
      : c_(c), strict_(c.record.value("strict", true)), tol_(tolerance(c.record.at("tol"))) {
    own_["identity"] = [](const Args& a) -> Outputs { return a.tensor("input"); };
    own_["grad_of"] = [](const Args& a) -> Outputs { return a.tensor("input").grad(); };
    own_["requires_grad_"] = [](const Args& a) -> Outputs {
      return a.tensor("input").requires_grad_(a.flag("value", true));
    };
    own_["detach"] = [](const Args& a) -> Outputs { return a.tensor("input").detach(); };
    own_["detach_"] = [](const Args& a) -> Outputs { return a.tensor("input").detach_(); };
  }

  void replay() {
    look_ahead(c_.record.at("steps"));
    try {
      run(c_.record.at("steps"), "");
    } catch (const Deviation&) {
    }
    if (reads_what_it_writes_)
      c_.partial.push_back("feature overlapping source: the reference reads elements that it has written already");
  }

 private:
  /// Skips what cannot be replayed before anything runs.
  void look_ahead(const Json& steps) {
    for (const Json& s : steps) {
      const std::string what = s.at("do").get<std::string>();
      if (s.contains("steps")) look_ahead(s.at("steps"));
      if (what == "op") {
        const std::string op = s.at("op").get<std::string>();
        // What is written through x.data in the reference, its version counter does not see.
        if (op == "data") throw Skip{"feature x.data: no accessor escapes the version"};
        // The reference's mean over some dimensions saves its operand without need, and refuses if it was written.
        if (op == "mean" && s.at("args").contains("dim")) saves_needlessly_ = true;
        if (!own_.contains(op) && !c_.ops.find(op)) throw Skip{"op " + op};
      }
    }
  }

  void run(const Json& steps, const std::string& prefix) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::string where = prefix + std::to_string(i);
      if (steps[i].contains("steps"))
        run_block(steps[i], where);
      else
        run_guarded(steps[i], where);
    }
  }

  void run_block(const Json& s, const std::string& where) {
    const std::string what = s.at("do").get<std::string>();
    if (what == "no_grad") {
      taper::NoGradGuard guard;
      run(s.at("steps"), where + ".");
    } else if (what == "enable_grad") {
      taper::EnableGradGuard guard;
      run(s.at("steps"), where + ".");
    } else if (what == "repeat") {
      for (std::int64_t n = s.at("times").get<std::int64_t>(); n > 0; --n) run(s.at("steps"), where + ".");
    } else {
      throw Skip{"feature step " + what};
    }
  }

  /// One step, which throws exactly if its record says so.
  void run_guarded(const Json& s, const std::string& where) {
    const bool throws = s.contains("throws");
    std::string name = s.at("do").get<std::string>();
    if (s.contains("op")) name = s.at("op").get<std::string>();
    const std::string step = "step " + where + " (" + name + ")";
    try {
      run_step(s);
    } catch (const taper::Error& e) {
      if (throws) return;
      if (!strict_) throw Deviation{};
      throw Failure{step + " throws: " + e.what()};
    } catch (const Failure& f) {
      throw Failure{step + ": " + f.what};
    }
    if (!throws) return;
    const std::string kind = s.at("throws").at("kind").get<std::string>();
    if (!strict_ || (saves_needlessly_ && kind == "saved_modified")) throw Deviation{};
    throw Failure{step + " does not throw, expected " + kind};
  }

  void run_step(const Json& s) {
    const std::string what = s.at("do").get<std::string>();
    if (what == "leaf") return set(s.at("name"), decoder().tensor(s));
    if (what == "op") return run_op(s);
    if (what == "setitem") return run_setitem(s);
    if (what == "backward") {
      taper::BackwardOptions options{.retain_graph = retain(s), .create_graph = s.value("create_graph", false)};
      if (s.contains("inputs")) options.inputs = tensors(s.at("inputs"));
      return taper::autograd::backward(tensors(s.at("of")), cotangents(s), options);
    }
    if (what == "grad") return run_grad(s);
    if (what == "retain_grad") return tensor(s.at("var")).retain_grad();
    if (what == "hook") return run_hook(s);
    if (what == "remove_hook") return remove_hook(s);
    if (what == "zero_grad") return tensor(s.at("var")).zero_grad(s.value("set_to_none", true));
    if (what == "set_grad") return tensor(s.at("var")).set_grad(value_tensor(s.at("value")));
    if (what == "set_data") return tensor(s.at("var")).set_data(value_tensor(s.at("value")));
    if (what == "del") {
      variables_.erase(s.at("var").get<std::string>());
      return;
    }
    if (what == "check") return check(s);
    throw Skip{"feature step " + what};
  }

  void run_setitem(const Json& s) {
    Decoder d = decoder();
    Args args("setitem"), read("getitem");
    const Tensor target = tensor(s.at("target"));
    const Value index = d.value(s.at("index")), value = d.value(s.at("value"));
    args.set("input", {target});
    args.set("index", index);
    args.set("value", value);
    read.set("input", {target});
    read.set("index", index);
    if (value.is<Tensor>() && value.get<Tensor>().is_alias_of(target)) {
      taper::NoGradGuard guard;
      note_overlap(c_.ops.call(read).at(0).get<Tensor>(), value);
    }
    c_.ops.call(args);
  }
  /// Taper copies a source that a write would change before it is read; the reference does not, so what it recorded
  /// from here on depends on the order in which it works.
  void note_overlap(const Tensor& destination, const Value& source) {
    if (source.is<Tensor>() && taper::overlap(destination, source.get<Tensor>()) == taper::Overlap::partial)
      reads_what_it_writes_ = true;
  }

  void run_op(const Json& s) {
    const std::string op = s.at("op").get<std::string>();
    Decoder d = decoder();
    const Args args = d.args(op, s.at("args"));
    if (op.back() == '_' && !own_.contains(op))
      for (const auto& [name, v] : args.all())
        if (name != "input") note_overlap(args.tensor("input"), v);
    const auto own = own_.find(op);
    const Outputs out = own != own_.end() ? own->second(args) : c_.ops.call(args);
    if (!s.contains("out")) return;
    const Json& names = s.at("out");
    if (names.size() != out.size())
      throw Failure{std::to_string(out.size()) + " outputs, expected " + std::to_string(names.size())};
    for (std::size_t i = 0; i < out.size(); ++i)
      if (!names[i].is_null()) variables_[names[i].get<std::string>()] = out[i];
  }

  void run_grad(const Json& s) {
    const TensorList got = taper::autograd::grad(tensors(s.at("of")), tensors(s.at("wrt")), cotangents(s),
                                                 {.retain_graph = retain(s),
                                                  .create_graph = s.value("create_graph", false),
                                                  .allow_unused = s.value("allow_unused", false)});
    const Json& names = s.at("out");
    for (std::size_t i = 0; i < names.size(); ++i)
      if (!names[i].is_null()) set(names[i], got.at(i));
  }

  void run_hook(const Json& s) {
    const Json id = s.at("id");
    const std::optional<double> scale = s.contains("scale") && !s.at("scale").is_null()
                                            ? std::optional<double>(number(s.at("scale")))
                                            : std::optional<double>();
    const auto log = log_;
    hooks_.emplace(id.dump(), taper::register_hook(tensor(s.at("var")), [id, scale, log](const Tensor& g) {
                     log->push_back(id);
                     return scale ? g.mul(*scale) : Tensor();
                   }));
  }
  void remove_hook(const Json& s) { hooks_.at(s.at("id").dump()).remove(); }

  void check(const Json& s) {
    for (const auto& [field, want] : s.items())
      if (field != "do" && field != "var" && field != "shares") check_field(s, field, want);
  }
  void check_field(const Json& s, const std::string& field, const Json& want) {
    if (field == "log") return expect_equal(field, *log_, want);
    if (field == "is_none") return expect_equal(field, !variable_tensor(s.at("var")).defined(), want);
    const Tensor t = tensor(s.at("var"));
    const std::string what = s.at("var").get<std::string>() + " " + field;
    if (reads_what_it_writes_ && (field == "value" || field == "grad")) return;
    if (field == "value") return expect(c_, what, t, want, tol_);
    if (field == "grad") return expect(c_, what, t.grad(), want, tol_);
    if (field == "requires_grad") return expect_equal(what, t.requires_grad(), want);
    if (field == "is_leaf") return expect_equal(what, t.is_leaf(), want);
    if (field == "has_grad_fn") return expect_equal(what, bool(t.grad_fn()), want);
    if (field == "version") return expect_equal(what, t.version(), want);
    if (field == "grad_requires_grad") return expect_equal(what, t.grad().defined() && t.grad().requires_grad(), want);
    if (field == "stride") return expect_equal(what, t.strides().vec(), want);
    if (field == "storage_offset") return expect_equal(what, t.storage_offset(), want);
    if (field == "shares_storage_with") return expect_equal(what, t.is_alias_of(tensor(want)), s.at("shares"));
    throw Skip{"feature check of " + field};
  }
  static void expect_equal(const std::string& what, const Json& got, const Json& want) {
    if (got != want) throw Failure{what + " is " + got.dump() + ", expected " + want.dump()};
  }

  Decoder decoder() {
    Decoder d(c_.archive);
    d.variable = [this](const std::string& name) { return variables_.at(name); };
    return d;
  }
  void set(const Json& name, const Tensor& t) { variables_[name.get<std::string>()] = {t}; }
  Tensor variable_tensor(const Json& name) const {
    const Value& v = variables_.at(name.get<std::string>());
    return v.is<Tensor>() ? v.get<Tensor>() : Tensor();
  }
  Tensor tensor(const Json& name) const {
    const Tensor t = variable_tensor(name);
    if (!t.defined()) throw Failure{name.get<std::string>() + " is no tensor"};
    return t;
  }
  TensorList tensors(const Json& names) const {
    TensorList ts;
    for (const Json& n : names) ts.push_back(tensor(n));
    return ts;
  }
  Tensor value_tensor(const Json& v) {
    const Value value = decoder().value(v);
    return value.is<Tensor>() ? value.get<Tensor>() : Tensor();
  }
  TensorList cotangents(const Json& s) {
    TensorList ts;
    if (s.contains("grad") && !s.at("grad").is_null())
      for (const Json& g : s.at("grad")) ts.push_back(value_tensor(g));
    return ts;
  }
  static std::optional<bool> retain(const Json& s) {
    if (!s.contains("retain_graph") || s.at("retain_graph").is_null()) return {};
    return s.at("retain_graph").get<bool>();
  }

  const Context& c_;
  const bool strict_;
  const Tolerance tol_;
  bool saves_needlessly_ = false, reads_what_it_writes_ = false;
  std::map<std::string, OpTable::Call> own_;  // operations that only programs have
  std::map<std::string, Value> variables_;
  std::shared_ptr<std::vector<Json>> log_ = std::make_shared<std::vector<Json>>();
  std::map<std::string, taper::HookHandle> hooks_;
};

}  // namespace

void replay_program(const Context& c) {
  try {
    Program(c).replay();
  } catch (const Failure&) {
    if (!c.record.value("legacy", false)) throw;
  }
}

}  // namespace oracle
