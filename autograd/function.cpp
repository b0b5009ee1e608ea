#include <taper/autograd/autograd_meta.h>
#include <taper/autograd/function.h>
#include <taper/factory.h>
#include <taper/operator.h>

#include <algorithm>

#include "fit_gradient.h"
#include "saved_list.h"
#include "untouched.h"

namespace taper::autograd {
namespace {

bool contains(const TensorList& list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& o) { return o.is_same(t); });
}

/// Where the gradient of a once differentiable function came from, for who differentiates it.
struct NotTwice final : Node {
  Gradients apply(Gradients) override {
    raise<AutogradError>("backward of ", name(), ": its gradient cannot be differentiated, because the function is ",
                         "once_differentiable; make its backward of differentiable operations and remove the mark, or ",
                         "leave out create_graph");
  }
};

}  // namespace

/// The node of every user's function.
class FunctionNode final : public Node {
 public:
  /// An argument of forward.
  struct Argument {
    bool is_tensor = false;
    TensorSpec spec = {};
  };

  explicit FunctionNode(const detail::FunctionTraits& t) : traits(t), context(this), saved(this) { set_name(t.name); }
  Gradients apply(Gradients grads) override;

  /// Makes the results outputs of this node.
  void record(const TensorList& inputs, TensorList& results);
  /// Throws if forward wrote to an argument in secret. `versions`: of the inputs, before.
  void check_writes(const TensorList& inputs, const std::vector<std::uint32_t>& versions) const;
  void save(const TensorList& inputs, const TensorList& results);

  const detail::FunctionTraits& traits;
  Context context;
  SavedList saved;
  SmallVector<Argument, 4> arguments;
  SmallVector<bool, 4> needs_grad;  // by argument
  const TensorList& dirty() const { return context.dirty_; }

  Gradients call_backward(Gradients grads);

 private:
  Gradients by_edge(TensorList by_argument) const;
  void forbid_second_derivative(const Gradients& incoming, Gradients& outgoing) const;
};

bool Context::needs_input_grad(std::size_t i) const {
  check<IndexError>(i < node_->needs_grad.size(), node_->name(), ": needs_input_grad(", i, ") of ",
                    node_->needs_grad.size(), " arguments");
  return node_->needs_grad[i];
}

TensorList Context::saved_tensors() const { return node_->saved.get(); }

const void* Context::find(std::string_view name, const char* type) const {
  for (const Value& v : values_)
    if (v.name == name) {
      check<ValueError>(v.type == type, node_->name(), ": value '", name,
                        "' was saved as another type; ask for it by exactly the type it was saved with");
      return v.value.get();
    }
  raise<ValueError>(node_->name(), ": no value '", name, "' was saved; call ctx.save_value() in forward");
}

Gradients FunctionNode::apply(Gradients grads) {
  const Untouched given(grads);
  Gradients out = call_backward(std::move(grads));
  given.check_after("backward", *this);
  return out;
}

Gradients FunctionNode::call_backward(Gradients grads) {
  TensorList in;
  for (std::size_t i = 0; i < num_outputs(); ++i) {
    in.push_back(i < grads.size() ? grads[i] : Tensor());
    if (!in[i].defined() && context.materialize_)
      in[i] = zeros(output(i).sizes(), TensorOptions{output(i).dtype, output(i).device});
  }
  if (!traits.once_differentiable || !GradMode::is_enabled()) return by_edge(traits.backward(context, std::move(in)));
  const auto without_recording = [&] {
    const NoGradGuard no_grad;
    return by_edge(traits.backward(context, std::move(in)));
  };
  Gradients out = without_recording();
  forbid_second_derivative(grads, out);
  return out;
}

Gradients FunctionNode::by_edge(TensorList by_argument) const {
  const std::size_t n = arguments.size();
  bool fits = by_argument.size() >= n;
  for (std::size_t i = n; fits && i < by_argument.size(); ++i) fits = !by_argument[i].defined();
  check<AutogradError>(fits, "backward of ", name(), " returned ", by_argument.size(), " gradients, but forward has ",
                       n, n == 1 ? " argument" : " arguments",
                       " besides the context; return one for each, undefined for those without");
  Gradients out;
  for (std::size_t i = 0; i < n; ++i) {
    Tensor& g = by_argument[i];
    check<AutogradError>(arguments[i].is_tensor || !g.defined(), "backward of ", name(), " returned a gradient (", g,
                         ") for argument ", i, ", which is no tensor; return an undefined one: Tensor()");
    if (!arguments[i].is_tensor) continue;
    const bool used = g.defined() && needs_grad[i];
    out.push_back(used ? fit_gradient(std::move(g), arguments[i].spec, name(), i) : Tensor());
  }
  return out;
}

void FunctionNode::forbid_second_derivative(const Gradients& incoming, Gradients& outgoing) const {
  const auto node = make_intrusive<NotTwice>();
  node->set_name(name());
  for (const Tensor& g : incoming) node->connect(g);
  for (const Edge& e : edges()) node->add_edge(e);
  for (Tensor& g : outgoing)
    if (g.defined()) g = with_history(g.detach(), Edge{IntrusivePtr<Node>(node), node->add_output(g.spec())});
}

void FunctionNode::check_writes(const TensorList& inputs, const std::vector<std::uint32_t>& versions) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = inputs[i];
    if (!t.defined() || t.version() == versions[i]) continue;
    const bool declared =
        std::any_of(dirty().begin(), dirty().end(), [&](const Tensor& d) { return d.is_alias_of(t); });
    check<AutogradError>(declared, name(), ": forward wrote to its argument (", t.spec(), ") by ",
                         t.storage()->last_writer(),
                         "() and did not say so, which would make gradients wrong; call ctx.mark_dirty({...}) with it "
                         "and return it, or write to a clone()");
  }
}

void FunctionNode::record(const TensorList& inputs, TensorList& results) {
  const auto is_input = [&](const Tensor& t) { return contains(inputs, t); };
  for (const Tensor& t : results) check<AutogradError>(t.defined(), name(), ": forward returned an undefined tensor");
  for (const Tensor& d : dirty()) {
    if (!is_input(d)) continue;
    if (contains(results, d)) check_inplace(d, name());
    check<AutogradError>(contains(results, d) || !d.requires_grad(), name(), ": the argument (", d.spec(),
                         ") is marked dirty but not among the results; return it, so that it gets its new history");
    check<AutogradError>(!contains(context.non_differentiable_, d), name(), ": the argument (", d.spec(),
                         ") is marked dirty and non-differentiable: its old history would be taken for that of its new "
                         "values; return a clone() of it as the result without gradient");
    check<AutogradError>(!d.is_view() || !contains(results, d) || results.size() == 1, name(), ": wrote to a view (",
                         d.spec(), ") and returned ", results.size(),
                         " tensors, but the history of its base can follow one only; make it two functions, or pass "
                         "a clone() of the view");
  }
  const TensorList returned = results;
  for (std::size_t i = 0; i < results.size(); ++i) {
    Tensor& t = results[i];
    std::size_t first = 0;
    while (!returned[first].is_same(returned[i])) ++first;
    if (first < i) {  // the same tensor again, whose gradient arrives at its first place
      add_output(t.spec());
      t = results[first];
    } else if (contains(context.non_differentiable_, t) || !is_floating(t.dtype())) {
      add_output(t.spec());
      if (t.requires_grad()) t = t.detach();
    } else if (is_input(t) && contains(dirty(), t)) {
      const std::size_t argument = std::size_t(
          std::find_if(inputs.begin(), inputs.end(), [&](const Tensor& in) { return in.is_same(t); }) - inputs.begin());
      // Counted once more: a view that was looked at since the write has taken the older history for that of its
      // memory.
      t.impl()->count_write(name());
      rebase_history(t, IntrusivePtr<Node>(this), argument);
    } else {
      const NoGradGuard no_grad;
      if (is_input(t) || meta_of(t))  // or some tensor from elsewhere, whose history is its own
        t = taper::detail::make_view(t, {t.impl()->geometry(), t.storage_offset()}, false, name());
      set_history(t, IntrusivePtr<Node>(this));
    }
  }
}

void FunctionNode::save(const TensorList& inputs, const TensorList& results) {
  const auto index_in = [](const TensorList& list, const Tensor& t) {
    std::size_t i = 0;
    while (i < list.size() && !list[i].is_same(t)) ++i;
    return i;
  };
  context.dirty_ = {}, context.non_differentiable_ = {};  // a node owns no tensor
  for (const Tensor& t : std::exchange(context.to_save_, {})) {
    const std::size_t input = index_in(inputs, t), result = index_in(results, t);
    Saved& s = saved.add(input < inputs.size()     ? "argument " + std::to_string(input)
                         : result < results.size() ? "result " + std::to_string(result)
                                                   : "saved tensor " + std::to_string(saved.size()));
    if (!t.defined()) continue;
    if (result < results.size())
      s.keep_output(t);
    else
      s = t;
  }
}

namespace detail {

struct FunctionCall::State {
  IntrusivePtr<FunctionNode> node;
  TensorList inputs;  // tensors among the arguments
  std::vector<std::uint32_t> versions;
  bool recorded = false;
};

FunctionCall::FunctionCall(const FunctionTraits& traits) : state_(std::make_unique<State>()) {
  state_->node = make_intrusive<FunctionNode>(traits);
}
FunctionCall::~FunctionCall() = default;

void FunctionCall::add(const Tensor& t) {
  State& s = *state_;
  s.inputs.push_back(t);
  s.versions.push_back(t.defined() ? t.version() : 0);
  s.node->arguments.push_back({true, t.defined() ? t.spec() : TensorSpec()});
  const bool needed = GradMode::is_enabled() && t.defined() && t.requires_grad();
  s.node->needs_grad.push_back(needed);
  s.node->add_edge(needed ? gradient_edge(t) : Edge{});
  s.recorded |= needed;
}

void FunctionCall::add_plain() {
  state_->node->arguments.push_back({});
  state_->node->needs_grad.push_back(false);
}

Context& FunctionCall::context() { return state_->node->context; }

TensorList FunctionCall::finish(TensorList results) {
  State& s = *state_;
  FunctionNode& node = *s.node;
  // Writes that no operation has counted, say through data_ptr().
  for (std::size_t i = 0; i < s.inputs.size(); ++i)
    if (const Tensor& t = s.inputs[i]; t.defined() && t.version() == s.versions[i] && contains(node.dirty(), t))
      t.impl()->count_write(node.name());
  if (!s.recorded) {
    for (std::size_t i = 0; GradMode::is_enabled() && i < s.inputs.size(); ++i)
      if (const Tensor& t = s.inputs[i]; t.defined() && t.is_view() && t.version() != s.versions[i])
        check_untracked_inplace(t, node.name());
    for (Tensor& t : results)
      if (t.defined() && t.requires_grad()) t = t.detach();
    return results;
  }
  node.check_writes(s.inputs, s.versions);
  node.record(s.inputs, results);
  node.save(s.inputs, results);
  return results;
}

const char* name_in(const char* signature) {
  // "... [with Op = space::Name; ...]" or "... [Op = space::Name]"
  const std::string_view s = signature;
  const std::size_t start = s.find("Op = ");
  std::string_view name = start == s.npos ? s : s.substr(start + 5);
  name = name.substr(0, name.find_first_of(";]"));
  if (name.find('<') == name.npos && name.rfind("::") != name.npos) name = name.substr(name.rfind("::") + 2);
  char* kept = new char[name.size() + 1]{};
  std::copy(name.begin(), name.end(), kept);
  return kept;
}

}  // namespace detail
}  // namespace taper::autograd
