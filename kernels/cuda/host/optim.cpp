// Steps of optimizers. Inside a StepsTogether they are collected, and made in as few launches as there are different
// numbers in them.
#include "cuda/optim.h"

#include <taper/operator.h>
#include <taper/ops/optim.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "device.h"
#include "elementwise.h"
#include "flat.h"
#include "graph.h"
#include "install.h"
#include "widen.h"

namespace taper::cuda_kernels {
namespace {

using OptionalTensor = std::optional<Tensor>;

/// Steps that wait to be made together; of this thread.
class Collected {
 public:
  static Collected& mine() {
    static thread_local Collected c;
    return c;
  }

  template <class Factors>
  using Start = void (*)(const Queue&, StepTensors&, const Factors& all, const Factors* each);

  /// Steps that are made in one launch have the same `start`, a kernel for one element type, and the same factors; in a
  /// graph, each its own.
  template <class Factors>
  void add(const OnDevice& on, Start<Factors> start, const Factors& factors, const StepTensor& step,
           std::span<const Tensor> used, std::span<const Tensor> given) {
    static_assert(sizeof factors <= sizeof factors_);
    const bool is_captured = CapturedSteps::recording != nullptr || CapturedSteps::renewing != nullptr;
    check<NotImplementedError>(!is_captured || StepsTogether::are_made_again(),
                               "a step of an optimizer cannot be captured into a graph by itself: its numbers would ",
                               "stay the same in every replay; call step() of SGD, Adam or AdamW");
    const auto any = reinterpret_cast<void (*)()>(start);
    const bool fits = tensors_.count < StepTensors::kMost && device_ == on.state().index() && stream_ == on.stream() &&
                      launch_.start == any && (is_captured || std::memcmp(factors_, &factors, sizeof factors) == 0);
    if (!fits) {
      make();
      device_ = on.state().index();
      stream_ = on.stream();
      launch_.start = any;
      std::memcpy(factors_, &factors, sizeof factors);
      make_ = [](Collected& c, const Queue& queue, const void* each) {
        Factors f;
        std::memcpy(&f, c.factors_, sizeof f);
        reinterpret_cast<Start<Factors>>(c.launch_.start)(queue, c.tensors_, f, static_cast<const Factors*>(each));
      };
    }
    tensors_.tensor[tensors_.count++] = step;
    kept_.insert(kept_.end(), used.begin(), used.end());
    if (is_captured) {
      for (const Tensor& t : given) launch_.tensors.push_back(t.impl()->data());
      const auto* bytes = reinterpret_cast<const unsigned char*>(&factors);
      each_.insert(each_.end(), bytes, bytes + sizeof factors);
    }
    StepsTogether::when_done([] { mine().make(); });
  }
  void make() {
    if (tensors_.count == 0) return;
    struct Emptied {  // whatever happens, they are not made twice
      Collected& c;
      ~Emptied() {
        std::fill_n(c.tensors_.tensor, c.tensors_.count, StepTensor{});  // no address outlives its memory
        c.tensors_.count = 0;
        c.kept_.clear();
        c.launch_.tensors.clear();
        c.each_.clear();
      }
    } const emptied{*this};
    const OnDevice on(device_);
    const Queue queue{stream_, on.state().multi_processors()};
    if (CapturedSteps* const steps = CapturedSteps::renewing) return steps->renew(queue, launch_, each_);
    CapturedSteps* const steps = CapturedSteps::recording;
    make_(*this, queue, steps != nullptr ? steps->record(launch_, each_.size()) : nullptr);
  }

 private:
  StepTensors tensors_{};
  std::vector<Tensor> kept_;  // until the step is made nothing else may get their memory
  unsigned char factors_[sizeof(AdamFactors<double>)] = {};
  int device_ = -1;
  cudaStream_t stream_ = nullptr;
  CapturedSteps::Launch launch_;
  std::vector<unsigned char> each_;  // factors of the tensors, in a graph
  void (*make_)(Collected&, const Queue&, const void* each) = nullptr;
};

/// The tensors of one step, param, grad and state, in an order and a dtype that the kernels know. What is not is
/// copied, and the copies of what is written go back.
template <std::size_t N>
class Operands {
 public:
  explicit Operands(const std::array<Tensor, N>& given) : given_(given), used_(given) {
    std::array<const Tensor*, N> all;
    for (std::size_t i = 0; i < N; ++i) all[i] = &given_[i];
    const bool flat = kernels::are_flat(all), narrow = is_16_bit_float(given_[0].dtype());
    if (flat && !narrow) return;
    copied_ = true;
    if (CapturedSteps::renewing != nullptr) return;  // the graph has the copies
    for (std::size_t i = 0; i < N; ++i) {
      used_[i] =
          empty(TensorSpec::contiguous(given_[i].sizes(), narrow ? float32 : given_[i].dtype(), given_[i].device()));
      copy_elements(used_[i], given_[i]);
    }
  }
  DType dtype() const { return compute_dtype(given_[0].dtype()); }

  template <class Factors>
  void step(const OnDevice& on, Collected::Start<Factors> start, const Factors& factors) const {
    StepTensor t{used_[0].impl()->data(), used_[1].impl()->data(), {}, used_[0].numel()};
    for (std::size_t i = 2; i < N; ++i) t.state[i - 2] = used_[i].impl()->data();
    Collected& collected = Collected::mine();
    collected.add(on, start, factors, t, used_, given_);
    if (!copied_ && StepsTogether::is_active()) return;
    collected.make();
    if (!copied_ || CapturedSteps::renewing != nullptr) return;
    for (std::size_t i = 0; i < N; ++i)
      if (i != 1) copy_elements(given_[i], used_[i]);
  }

 private:
  std::array<Tensor, N> given_, used_;
  bool copied_ = false;
};

void count_write(const Tensor& t, const char* writer) { t.impl()->count_write(writer); }

template <class T>
SgdFactors<T> factors_of(const SgdStep& s) {
  using F = SgdFactors<T>;
  std::uint32_t flags = 0;
  if (s.weight_decay != 0) flags |= F::decays;
  if (s.momentum != 0) flags |= F::has_momentum;
  if (s.first) flags |= F::first;
  if (s.nesterov) flags |= F::nesterov;
  return {T(s.lr), T(s.weight_decay), s.maximize ? T(-1) : T(1), T(s.momentum), T(1 - s.dampening), flags, 0};
}
template <class T>
AdamFactors<T> factors_of(const AdamStep& s, bool keeps_largest) {
  using F = AdamFactors<T>;
  const T decay = s.decoupled_decay ? T(0) : T(s.weight_decay);
  return {T(s.beta1),
          T(s.beta2),
          T(1 - s.beta1),
          T(1 - s.beta2),
          T(s.eps),
          s.maximize ? T(-1) : T(1),
          s.decoupled_decay ? T(1 - s.lr * s.weight_decay) : T(1),
          decay,
          T(s.lr / (1 - std::pow(s.beta1, double(s.step)))),
          T(1 / std::sqrt(1 - std::pow(s.beta2, double(s.step)))),
          (decay != 0 ? std::uint32_t(F::decays) : 0u) | (keeps_largest ? std::uint32_t(F::keeps_largest) : 0u),
          0};
}

template <std::size_t N, class Step, class... More>
void make_step(const char* op, const std::array<Tensor, N>& tensors, const Step& s, const More&... more) {
  if (tensors[0].numel() == 0) return;
  const OnDevice on(tensors[0].device());
  const Operands<N> operands(tensors);
  dispatch_floating(operands.dtype(), op, [&]<class T>(Type<T>) {
    if constexpr (std::is_same_v<Step, SgdStep>)
      operands.step(on, sgd_steps<T>, factors_of<T>(s, more...));
    else
      operands.step(on, adam_steps<T>, factors_of<T>(s, more...));
  });
}

void sgd_step(Tensor& out, const Tensor& param, const Tensor& grad, const OptionalTensor& buffer, const SgdStep& s) {
  if (!out.is_same(param)) copy_elements(out, param);
  if (s.momentum == 0) return make_step<2>("sgd_step_", {out, grad}, s);
  count_write(*buffer, "sgd_step_");
  make_step<3>("sgd_step_", {out, grad, *buffer}, s);
}

void adam_step(Tensor& out, const Tensor& param, const Tensor& grad, const Tensor& exp_avg, const Tensor& exp_avg_sq,
               const OptionalTensor& largest, const AdamStep& s) {
  if (!out.is_same(param)) copy_elements(out, param);
  count_write(exp_avg, "adam_step_");
  count_write(exp_avg_sq, "adam_step_");
  if (!largest) return make_step<4>("adam_step_", {out, grad, exp_avg, exp_avg_sq}, s, false);
  count_write(*largest, "adam_step_");
  make_step<5>("adam_step_", {out, grad, exp_avg, exp_avg_sq, *largest}, s, true);
}

}  // namespace

void install_optim() {
  ops::sgd_step.set_kernel(DispatchKey::CUDA, sgd_step);
  ops::adam_step.set_kernel(DispatchKey::CUDA, adam_step);
}

}  // namespace taper::cuda_kernels
