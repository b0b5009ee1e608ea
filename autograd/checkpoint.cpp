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
    TensorList out;
    for (std::size_t i = 0; i < saved.size(); ++i) {
      out.push_back(saved[i].get());
      if (requires_grad[i]) out[i] = out[i].detach().requires_grad_();
    }
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
      : fn_(std::move(fn)), inputs_(make_intrusive<Inputs>(inputs)), random_(default_generator().state()) {}

  /// The next tensor that fn saves the first time; its number.
  std::size_t forget(const Tensor& t) {
    const std::lock_guard lock(mutex_);
    // What was there before the region, as the weights of a layer, will be read again: it must be as it is now.
    if (t.storage()->id() < first_own_storage_) older_.push_back({t.storage(), t.version(), t.spec()});
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

  /// Memory that fn saved and that is older than the region. Whoever fn reads it from keeps it.
  struct Older {
    WeakPtr<StorageImpl> storage;
    std::uint32_t version;
    TensorSpec spec;
  };

  void recompute() {
    check<AutogradError>(!running_, "checkpoint: fn runs a backward pass through the region that it is computing");
    struct Running {
      bool& flag;
      ~Running() { flag = false; }
    } running{running_ = true};
    const TensorList inputs = inputs_->get();
    for (const Older& o : older_) {
      const Storage now = o.storage.lock();
      check<AutogradError>(!now || now->version() == o.version, "checkpoint: fn saved ", o.spec, " at version ",
                           o.version, ", but ", now ? now->last_writer() : "",
                           "() has changed its memory since, now at ", "version ", now ? now->version() : 0,
                           ", so fn would compute something else; call ",
                           "backward() before that, or pass a clone() to checkpoint()");
    }
    Generator same_numbers;
    same_numbers.set_state(random_);
    const DefaultGeneratorGuard random(same_numbers);
    const Recomputation again;
    const EnableGradGuard record;
    std::vector<Unpacked> found;
    const auto keep = [&](const Tensor& t) {
      check_same(found.size(), &t);
      found.push_back(places_[found.size()].wanted ? Unpacked{t, t.version()} : Unpacked{});
      return 0;
    };
    {
      const SavedTensorHooks hooks(keep, [](int) -> Tensor {
        raise<AutogradError>("checkpoint: fn runs a backward pass of its own, which cannot be computed again");
      });
      fn_(inputs);
    }
    if (found.size() != places_.size()) check_same(found.size(), nullptr);
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
  std::vector<Older> older_;
  const std::uint64_t first_own_storage_ = empty(IntSpan{0}).storage()->id();
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
  return fn(inputs);
}

}  // namespace taper::autograd
