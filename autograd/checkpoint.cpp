// Checkpointing is a pair of saved-tensor hooks. Packing forgets the tensor and leaves a numbered ticket; unpacking the
// first ticket of a region runs its function again, under hooks that give each ticket the tensor of its number.
//
// A region inside another saves its inputs under the outer region's hooks. So to recompute the inner one, the outer one
// is recomputed first, in which the inner function runs as it does in any forward pass, and hands over those inputs.
#include <taper/autograd/checkpoint.h>
#include <taper/autograd/hooks.h>
#include <taper/autograd/saved_tensor_hooks.h>
#include <taper/grad_mode.h>
#include <taper/random.h>
#include <taper/recomputation.h>

#include <mutex>

#include "diagnostics/graph.h"
#include "older_memory.h"
#include "packed_tensor.h"
#include "saved_list.h"

namespace taper::autograd {
namespace {

/// Not in any graph: keeps the inputs as every operation keeps what it saves, with their versions.
struct Inputs final : Node {
  SavedList saved{this};
  std::vector<bool> requires_grad;
  explicit Inputs(const TensorList& inputs) {
    set_name("checkpoint");
    for (const Tensor& t : inputs) {
      Saved& s = saved.add("inputs[" + std::to_string(saved.size()) + "]");
      if (t.defined()) s = t;
      requires_grad.push_back(t.defined() && t.requires_grad());
    }
  }
  /// The inputs as leaves of a graph of their own.
  TensorList get() const {
    const NoGradGuard no_grad;
    TensorList out = saved.get();
    for (std::size_t i = 0; i < out.size(); ++i)
      if (requires_grad[i]) out[i] = out[i].detach().requires_grad_();
    return out;
  }
  /// Calls f for what is kept, save the memory of leaves.
  void visit_tensors(const Callback<void(const Tensor&)>& f) const {
    for (std::size_t i = 0; i < saved.size(); ++i) {
      const Saved& s = saved[i];
      if (!s.alias().defined()) {
        if (s.defined()) hooks()->packed_for(s).visit_tensors(f);
      } else if (!is_memory_of_leaf(s.alias().storage(), s)) {
        f(s.alias());
      }
    }
  }
  Gradients apply(Gradients) override { return {}; }
};

using Function = Callback<TensorList(const TensorList&)>;

/// One call of checkpoint().
class Region {
 public:
  Region(Function fn, const TensorList& inputs)
      : fn_(std::move(fn)), inputs_(make_intrusive<Inputs>(inputs)), random_(default_generator().state()) {
    read_.leave_out(inputs);  // which Inputs looks after
  }

  /// What fn finds there, as the weights of a layer, will be read again: it must be as it is now.
  OlderMemory& read() { return read_; }
  /// The next tensor that fn saves the first time; its number.
  std::size_t forget(const Tensor& t) {
    const std::lock_guard lock(mutex_);
    read_.save(t);
    places_.push_back({t.spec(), true, {}});
    return places_.size() - 1;
  }
  Unpacked recomputed(std::size_t number) {
    const std::lock_guard lock(mutex_);
    if (!places_[number].again.value.defined()) recompute();
    return places_[number].again;
  }
  /// Calls f for what is kept for this number: the inputs, which all numbers share, and the tensor if it was
  /// recomputed.
  void visit_tensors(std::size_t number, const Callback<void(const Tensor&)>& f) const {
    const std::lock_guard lock(mutex_);
    inputs_->visit_tensors(f);
    f(places_[number].again.value);
  }
  /// Nobody will ask for this number again.
  void release(std::size_t number) {
    const std::lock_guard lock(mutex_);
    places_[number].wanted = false;
    places_[number].again = {};
  }

 private:
  struct Place {
    TensorSpec spec;
    bool wanted;     // whether its ticket still exists
    Unpacked again;  // the tensor of the second call
  };

  void recompute() {
    check<AutogradError>(!running_, "checkpoint: fn runs a backward pass through the region that it is computing");
    struct Running {
      bool& flag;
      ~Running() { flag = false; }
    } running{running_ = true};
    const TensorList inputs = inputs_->get();
    read_.check_unchanged();
    Generator same_numbers;
    same_numbers.set_state(random_);
    const DefaultGeneratorGuard random(same_numbers);
    const Recomputation again;
    const EnableGradGuard record;
    std::vector<Unpacked> found;
    OlderMemory read_now;
    read_now.leave_out(inputs);
    const auto keep = [&](const Tensor& t) {
      check_same(found.size(), &t);
      read_now.save(t);
      found.push_back(places_[found.size()].wanted ? Unpacked{t, t.version()} : Unpacked{});
      return 0;
    };
    {
      const SavedTensorHooks hooks(keep, [](int) -> Tensor {
        raise<AutogradError>("checkpoint: fn runs a backward pass of its own, which cannot be computed again");
      });
      const OlderMemory::Scope see(read_now);
      fn_(inputs);
    }
    read_.check_same(read_now);
    if (found.size() != places_.size()) check_same(found.size(), nullptr);
    read_.take_versions(read_now);
    for (std::size_t i = 0; i < found.size(); ++i) places_[i].again = std::move(found[i]);
  }

  /// Throws unless what fn saves now under this number is like what it saved the first time.
  void check_same(std::size_t number, const Tensor* t) const {
    const TensorSpec* before = number < places_.size() ? &places_[number].spec : nullptr;
    if (before && t && before->sizes() == t->sizes() && before->dtype == t->dtype() && before->device == t->device())
      return;
    std::string first = "nothing", second = "nothing";
    if (before) append_to(first = "", *before);
    if (t) append_to(second = "", *t);
    raise<AutogradError>(
        "checkpoint: called again in the backward pass, fn does other work than the first time: as "
        "tensor number ",
        number, " it saved ", first, ", now ", second,
        "; fn must depend on nothing that changes but its inputs and default_generator()");
  }

  const Function fn_;
  const IntrusivePtr<Inputs> inputs_;
  const RandomStream random_;
  mutable std::recursive_mutex mutex_;  // two threads may walk the graph
  std::vector<Place> places_;
  OlderMemory read_;
  bool running_ = false;
};

/// What stands in a node for a tensor that was forgotten.
class Ticket {
 public:
  Ticket(std::shared_ptr<Region> region, std::size_t number) : region_(std::move(region)), number_(number) {}
  Ticket(Ticket&&) = default;
  ~Ticket() {
    if (region_) region_->release(number_);
  }
  Unpacked redeem() const { return region_->recomputed(number_); }
  void visit_tensors(const Callback<void(const Tensor&)>& f) const { region_->visit_tensors(number_, f); }

 private:
  std::shared_ptr<Region> region_;
  std::size_t number_;
};

}  // namespace

TensorList detail::checkpoint(Callback<TensorList(const TensorList&)> fn, const TensorList& inputs) {
  if (!GradMode::is_enabled()) return fn(inputs);
  const auto region = std::make_shared<Region>(fn, inputs);
  const SavedTensorHooks hooks([region](const Tensor& t) { return Ticket(region, region->forget(t)); },
                               [](const Ticket& ticket) { return ticket.redeem(); });
  const OlderMemory::Scope see(region->read());
  return fn(inputs);
}

}  // namespace taper::autograd
