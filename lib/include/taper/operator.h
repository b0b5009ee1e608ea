#pragma once
// How an operator is made: for authors of operators, kernels and rules. Programs that only call operators need
// <taper/ops/...>, which this header is not part of.
#include <taper/memory_overlap.h>
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <array>
#include <concepts>

namespace taper {

/// Installs every compiled kernel. Defined by the kernels layer; runs once, before the first kernel does.
void install_kernels();
/// Runs install_kernels() the first time.
void ensure_kernels();

/// A new tensor of this description, uninitialized.
Tensor empty(const TensorSpec& spec);
/// A 0-dim tensor that stands for a number: in promotion only its kind counts.
Tensor wrapped_number(Scalar value);

// What an argument is. Listed, not caught by a default: a type that holds tensors must be handled in
// visit_tensors() below before it can be an operator's argument.

/// True for argument types that hold no tensor. An options struct says so by a member `using plain_argument = void`.
template <class T>
inline constexpr bool is_plain_argument = std::is_arithmetic_v<T> || std::is_enum_v<T> || requires {
  typename T::plain_argument;
};
template <>
inline constexpr bool is_plain_argument<Scalar> = true;
template <>
inline constexpr bool is_plain_argument<IntVec> = true;
/// Borrowed for the length of the call: a rule copies what it needs later.
template <>
inline constexpr bool is_plain_argument<IntSpan> = true;
template <class T>
inline constexpr bool is_plain_argument<std::optional<T>> = is_plain_argument<T>;
template <class T, std::size_t N>
inline constexpr bool is_plain_argument<std::array<T, N>> = is_plain_argument<T>;

/// Calls f for each tensor that the argument holds; an absent optional tensor is left out.
template <class F>
void visit_tensors(F&& f, const Tensor& t) {
  f(t);
}
template <class F>
void visit_tensors(F&& f, const TensorList& ts) {
  for (const Tensor& t : ts) f(t);
}
template <class F>
void visit_tensors(F&& f, const std::optional<Tensor>& t) {
  if (t && t->defined()) f(*t);
}
template <class F, class T>
requires is_plain_argument<T>
void visit_tensors(F&&, const T&) {}

/// What stands of one operator in the operator table, whatever its signature.
class OpEntry {
 public:
  const char* name() const { return name_; }
  const char* inplace_name() const { return inplace_name_; }
  /// Names of the arguments, "self, other", for messages.
  const char* arguments() const { return arguments_; }
  /// The name of an argument, by its place.
  std::string argument_name(std::size_t i) const;
  /// The name of the i-th argument that holds tensors.
  std::string tensor_argument_name(std::size_t i) const;
  /// Backends with a kernel, and Autograd when the operator has a rule.
  DispatchKeySet filled() const { return filled_; }
  bool is_declared_non_differentiable() const { return non_differentiable_; }
  /// Says that the operator has no derivative: its results have no history, and asking is not an error.
  void declare_non_differentiable() { non_differentiable_ = true; }

  /// A tensor among the arguments, and the place of its argument.
  struct Operand {
    std::size_t argument;
    Tensor tensor;
  };
  template <class... Args>
  static std::vector<Operand> operands_in(const Args&... args) {
    std::vector<Operand> all;
    std::size_t i = 0;
    ((visit_tensors([&](const Tensor& t) { all.push_back({i, t}); }, args), ++i), ...);
    return all;
  }

  const OpEntry* next() const { return next_; }
  static const OpEntry* first() { return first_; }

 protected:
  constexpr OpEntry(const char* name, const char* arguments, const char* inplace_name, std::uint32_t plain_arguments)
      : name_(name), arguments_(arguments), inplace_name_(inplace_name), plain_arguments_(plain_arguments) {}
  /// Bit i set: argument i holds no tensor.
  template <class... Args>
  static constexpr std::uint32_t plain() {
    std::uint32_t bits = 0, at = 0;
    ((bits |= std::uint32_t(is_plain_argument<Args>) << at++), ...);
    return bits;
  }
  void fill(DispatchKey k) {
    if (filled_.empty()) next_ = first_, first_ = this;
    filled_ = filled_ | k;
  }

  /// The union of the arguments' keys, less those this thread excludes. Throws on an undefined tensor, and on tensors
  /// of different devices; 0-dim cpu tensors go with any device.
  template <class... Args>
  DispatchKeySet scan(const Args&... args) const {
    DispatchKeySet keys;
    Device device;
    bool mixed = false, undefined = false, any = false;
    (visit_tensors(
         [&](const Tensor& t) {
           if (!t.defined()) [[unlikely]] {
             undefined = true;
             return;
           }
           const TensorImpl& impl = *t.impl();
           keys = keys | impl.keys();
           if (!any) device = impl.device(), any = true;
           mixed |= impl.device() != device;
         },
         args),
     ...);
    if (undefined || mixed) [[unlikely]]
      check_operands(operands_in(args...));
    return keys - ExcludedKeys::get();
  }

  /// Called when a tensor with autograd metadata meets an operator without a rule.
  template <class... Args>
  void refuse_to_lose_gradients(const Args&... args) const {
    if (non_differentiable_ || !GradMode::is_enabled()) return;
    (visit_tensors([&](const Tensor& t) { refuse_if_tracked(t); }, args), ...);
  }

  /// Calls f; the message of an error that leaves it also says what every operand is.
  template <class F, class... Args>
  decltype(auto) explaining(F&& f, const Args&... args) const {
    try {
      return f();
    } catch (Error& e) {
      append_operands(e, operands_in(args...));
      throw;
    }
  }

  [[noreturn]] void raise_no_kernel(Device device) const;
  void check_operands(const std::vector<Operand>& operands) const;
  void append_operands(Error& e, const std::vector<Operand>& operands) const;
  void refuse_if_tracked(const Tensor& t) const;

 private:
  const char* name_;
  const char* arguments_;
  const char* inplace_name_;
  std::uint32_t plain_arguments_;
  DispatchKeySet filled_;
  bool non_differentiable_ = false;
  const OpEntry* next_ = nullptr;
  static inline constinit const OpEntry* first_ = nullptr;
};

namespace detail {
template <class R>
struct SpecOf {
  using type = TensorSpec;
};
template <std::size_t N>
struct SpecOf<std::array<Tensor, N>> {
  using type = std::array<TensorSpec, N>;
};
inline Tensor allocate(const TensorSpec& s) { return empty(s); }
template <std::size_t N>
std::array<Tensor, N> allocate(const std::array<TensorSpec, N>& s) {
  std::array<Tensor, N> out;
  for (std::size_t i = 0; i < N; ++i) out[i] = empty(s[i]);
  return out;
}
inline Device device_of(const Tensor& t) { return t.impl()->device(); }
template <std::size_t N>
Device device_of(const std::array<Tensor, N>& ts) {
  return ts[0].impl()->device();
}

/// Throws unless a result of `want` may be written into self: same shape, storable dtype, no element of self twice.
void check_destination(const char* op, const char* functional, const TensorSpec& want, const Tensor& self);
/// As check_destination; a `out` without elements is first resized.
void prepare_out(const char* op, const TensorSpec& want, Tensor& out);
/// dst[...] = src converted to dst's dtype; below autograd, without counting a write.
void copy_into(Tensor& dst, const Tensor& src);

/// Whether writing dst element by element could change what is still to be read of the argument.
template <class T>
bool is_clobbered(const Tensor& dst, const T& arg) {
  bool any = false;
  visit_tensors([&](const Tensor& t) { any |= overlap(dst, t) == Overlap::partial; }, arg);
  return any;
}
template <class T>
bool shares_memory(const Tensor& dst, const T& arg) {
  bool any = false;
  visit_tensors([&](const Tensor& t) { any |= overlap(dst, t) != Overlap::none; }, arg);
  return any;
}
Tensor private_copy(const Tensor& t);
/// The argument, its tensors copied where they overlap dst.
inline Tensor unclobbered(const Tensor& dst, const Tensor& t) { return is_clobbered(dst, t) ? private_copy(t) : t; }
inline std::optional<Tensor> unclobbered(const Tensor& dst, const std::optional<Tensor>& t) {
  return t && t->defined() ? std::optional<Tensor>(unclobbered(dst, *t)) : t;
}
inline TensorList unclobbered(const Tensor& dst, TensorList ts) {
  for (Tensor& t : ts) t = unclobbered(dst, t);
  return ts;
}
template <class T>
requires is_plain_argument<T>
const T& unclobbered(const Tensor&, const T& v) { return v; }

/// One call on a thread that is watched, for the scopes that watch it. Programs outside such scopes never make one.
class WatchedCall {
 public:
  template <class... Args>
  WatchedCall(const OpEntry& called, const char* form, const Tensor* destination, const Args&... args)
      : op(called), name(form), overwritten(destination), operands(OpEntry::operands_in(args...)) {
    ((finite_numbers &= is_finite(args)), ...);
    watcher->enter(*this);
  }
  ~WatchedCall() { watcher->leave(); }
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;
  /// The call is over; may throw.
  void finish(const Tensor& result) const { watcher->finish(*this, &result, 1); }
  template <std::size_t N>
  void finish(const std::array<Tensor, N>& results) const {
    watcher->finish(*this, results.data(), N);
  }

  const OpEntry& op;
  const char* name;           // of the form that was called: mul or mul_
  const Tensor* overwritten;  // null unless an in-place or out form
  std::vector<OpEntry::Operand> operands;
  bool finite_numbers = true;  // whether the arguments that are numbers are neither NaN nor infinite

  /// What the autograd layer does about calls, set before any thread is watched.
  struct Watcher {
    void (*enter)(const WatchedCall& call);
    void (*finish)(const WatchedCall& call, const Tensor* results, std::size_t n);
    void (*leave)() noexcept;
  };
  static const Watcher* watcher;

 private:
  template <class T>
  static bool is_finite(const T& v) {
    if constexpr (std::is_same_v<T, Scalar>) {
      return is_finite(v.template to<double>());
    } else if constexpr (std::is_same_v<T, std::optional<Scalar>> || std::is_same_v<T, std::optional<double>>) {
      return !v || is_finite(*v);
    } else if constexpr (std::is_floating_point_v<T>) {
      return v - v == 0;
    } else {
      return true;
    }
  }
};
}  // namespace detail

/// How an operator treats a given destination.
enum class OpKind : std::uint8_t {
  pointwise,  // element i of the result depends on element i of the operands: may write where it reads
  structured  // may read any operand element at any time: goes through a temporary when it would overwrite one
};

/// An operator whose result can be described before it is computed.
///
/// It is two functions: `infer` maps the arguments to the result's TensorSpec and rejects bad arguments; a kernel
/// fills a result that is already allocated. From those two come the functional form, the in-place form, the out form
/// and the meta device (infer without a kernel). R is Tensor, or std::array<Tensor, N> for N results.
///
/// A kernel of a pointwise operator gets a destination of any strides and of any dtype that can hold the result; a
/// kernel of a structured operator gets exactly what infer described.
template <class R, class... Args>
class StructuredOp<R(Args...)> : public OpEntry {
 public:
  using Spec = typename detail::SpecOf<R>::type;
  using Infer = Spec(const Args&...);
  using Kernel = void(R& out, const Args&...);
  using Record = R(const Args&...);
  using RecordInplace = void(Tensor& self, const Args&...);

  constexpr StructuredOp(const char* name, const char* arguments, Infer* f)
      : OpEntry(name, arguments, name, plain<Args...>()), infer_(f), kind_(OpKind::structured) {}
  /// With an in-place form, whose name messages and the version counter show.
  constexpr StructuredOp(const char* name, const char* arguments, Infer* f, const char* inplace_name,
                         OpKind kind = OpKind::pointwise)
      : OpEntry(name, arguments, inplace_name, plain<Args...>()), infer_(f), kind_(kind) {}

  R operator()(const Args&... args) const {
    if (ExcludedKeys::watching()) [[unlikely]]
      return watched(args...);
    return run(args...);
  }
  R below_autograd(const Args&... args) const {
    R out = detail::allocate(infer_(args...));
    compute(out, args...);
    return out;
  }

  /// Overwrites `self`, which is also the first argument.
  Tensor& inplace(Tensor& self, const Args&... args) const requires std::same_as<R, Tensor> {
    if (ExcludedKeys::watching()) [[unlikely]]
      return watched_inplace(self, args...);
    return run_inplace(self, args...);
  }
  void inplace_below_autograd(Tensor& self, const Args&... args) const requires std::same_as<R, Tensor> {
    detail::check_destination(inplace_name(), name(), infer_(args...), self);
    write(self, inplace_name(), args...);
  }

  /// Writes the result into `out`, which is resized if it has no elements. Not differentiable.
  Tensor& out(Tensor& out, const Args&... args) const requires std::same_as<R, Tensor> {
    if (ExcludedKeys::watching()) [[unlikely]]
      return watched_out(out, args...);
    return run_out(out, args...);
  }

  /// Runs the kernel into an `out` that exists, as below_autograd does, without counting a write.
  void compute(R& out, const Args&... args) const {
    const Device device = detail::device_of(out);
    if (device.is_meta()) return;
    ensure_kernels();
    Kernel* k = kernels_[unsigned(backend_of(device))];
    if (!k) [[unlikely]]
      raise_no_kernel(device);
    k(out, args...);
  }

  Spec infer(const Args&... args) const { return infer_(args...); }
  OpKind kind() const { return kind_; }
  void set_kernel(DispatchKey backend, Kernel* k) {
    kernels_[unsigned(backend)] = k;
    fill(backend);
  }
  void set_record(Record* r, RecordInplace* ri = nullptr) {
    record_ = r, record_inplace_ = ri;
    fill(DispatchKey::Autograd);
  }

 private:
  R run(const Args&... args) const {
    return explaining(
        [&]() -> R {
          const DispatchKeySet keys = scan(args...);
          if (keys.has(DispatchKey::Autograd)) {
            if (record_) return record_(args...);
            refuse_to_lose_gradients(args...);
          }
          return below_autograd(args...);
        },
        args...);
  }
  Tensor& run_inplace(Tensor& self, const Args&... args) const requires std::same_as<R, Tensor> {
    return explaining(
        [&]() -> Tensor& {
          const DispatchKeySet keys = scan(args...);
          if (keys.has(DispatchKey::Autograd)) {
            if (record_inplace_) {
              record_inplace_(self, args...);
              return self;
            }
            refuse_to_lose_gradients(args...);
          }
          inplace_below_autograd(self, args...);
          return self;
        },
        args...);
  }
  Tensor& run_out(Tensor& out, const Args&... args) const requires std::same_as<R, Tensor> {
    return explaining(
        [&]() -> Tensor& {
          check<ValueError>(out.defined(), name(), ": out is an undefined tensor; make it with empty({0}, dtype)");
          scan(out, args...);
          refuse_to_lose_gradients_out(out, args...);
          detail::prepare_out(name(), infer_(args...), out);
          write(out, name(), args...);
          return out;
        },
        args...);
  }

  [[gnu::cold, gnu::noinline]] R watched(const Args&... args) const {
    const detail::WatchedCall call(*this, name(), nullptr, args...);
    R out = run(args...);
    call.finish(out);
    return out;
  }
  [[gnu::cold, gnu::noinline]] Tensor& watched_inplace(Tensor& self,
                                                       const Args&... args) const requires std::same_as<R, Tensor> {
    const detail::WatchedCall call(*this, inplace_name(), &self, args...);
    run_inplace(self, args...);
    call.finish(self);
    return self;
  }
  [[gnu::cold, gnu::noinline]] Tensor& watched_out(Tensor& out,
                                                   const Args&... args) const requires std::same_as<R, Tensor> {
    const detail::WatchedCall call(*this, name(), &out, args...);
    run_out(out, args...);
    call.finish(out);
    return out;
  }

  void write(Tensor& self, const char* writer, const Args&... args) const {
    self.impl()->count_write(writer);
    if (kind_ == OpKind::pointwise) {
      if ((detail::is_clobbered(self, args) || ...)) [[unlikely]]
        compute(self, detail::unclobbered(self, args)...);
      else
        compute(self, args...);
      return;
    }
    const TensorSpec want = infer_(args...);
    if (want.dtype == self.dtype() && want.geometry == self.impl()->geometry() &&
        !(detail::shares_memory(self, args) || ...))
      return compute(self, args...);
    Tensor result = empty(want);
    compute(result, args...);
    detail::copy_into(self, result);
  }
  void refuse_to_lose_gradients_out(const Tensor& out, const Args&... args) const {
    if (!GradMode::is_enabled()) return;
    if (out.impl()->keys().has(DispatchKey::Autograd)) refuse_if_tracked(out);
    (visit_tensors(
         [&](const Tensor& t) {
           if (t.impl()->keys().has(DispatchKey::Autograd)) refuse_if_tracked(t);
         },
         args),
     ...);
  }

  Infer* infer_;
  std::array<Kernel*, kNumBackends> kernels_{};
  Record* record_ = nullptr;  // set by the autograd layer
  RecordInplace* record_inplace_ = nullptr;
  OpKind kind_;
};

/// Where a view looks: shape and strides in elements, and the first element's place in the storage.
struct Geometry {
  SizesAndStrides shape;
  std::int64_t offset = 0;
};

namespace detail {
/// A new view of self's memory by the operator `op`; `several` when it is one of several results of one call.
Tensor make_view(const Tensor& self, Geometry g, bool several, const char* op);
}  // namespace detail

/// An operator that shows existing memory another way. `infer` is all there is to compute.
template <class... Args>
class ViewOp : public OpEntry {
 public:
  using Infer = Geometry(const Tensor& self, const Args&...);
  using Record = Tensor(const Tensor& self, const Args&...);
  constexpr ViewOp(const char* name, const char* arguments, Infer* f)
      : OpEntry(name, arguments, name, plain<Tensor, Args...>()), infer_(f) {}

  Tensor operator()(const Tensor& self, const Args&... args) const {
    return explaining(
        [&]() -> Tensor {
          const DispatchKeySet keys = scan(self);
          if (keys.has(DispatchKey::Autograd)) {
            if (record_) return record_(self, args...);
            refuse_to_lose_gradients(self);
          }
          return below_autograd(self, args...);
        },
        self);
  }
  Tensor below_autograd(const Tensor& self, const Args&... args) const {
    return detail::make_view(self, infer_(self, args...), false, name());
  }
  Geometry infer(const Tensor& self, const Args&... args) const { return infer_(self, args...); }
  void set_record(Record* r) {
    record_ = r;
    fill(DispatchKey::Autograd);
  }

 private:
  Infer* infer_;
  Record* record_ = nullptr;
};

/// An operator that shows existing memory in several pieces: split, unbind.
template <class... Args>
class MultiViewOp : public OpEntry {
 public:
  using Infer = std::vector<Geometry>(const Tensor& self, const Args&...);
  using Record = TensorList(const Tensor& self, const Args&...);
  constexpr MultiViewOp(const char* name, const char* arguments, Infer* f)
      : OpEntry(name, arguments, name, plain<Tensor, Args...>()), infer_(f) {}

  TensorList operator()(const Tensor& self, const Args&... args) const {
    return explaining(
        [&]() -> TensorList {
          const DispatchKeySet keys = scan(self);
          if (keys.has(DispatchKey::Autograd)) {
            if (record_) return record_(self, args...);
            refuse_to_lose_gradients(self);
          }
          return below_autograd(self, args...);
        },
        self);
  }
  TensorList below_autograd(const Tensor& self, const Args&... args) const {
    TensorList out;
    for (Geometry& g : infer_(self, args...)) out.push_back(detail::make_view(self, std::move(g), true, name()));
    return out;
  }
  void set_record(Record* r) {
    record_ = r;
    fill(DispatchKey::Autograd);
  }

 private:
  Infer* infer_;
  Record* record_ = nullptr;
};

namespace detail {
// What lib asks of the autograd layer, which sets these before any tensor can have the Autograd key.
/// Whether gradients are asked of t.
extern bool (*requires_grad_hook)(const Tensor& t);
/// How a tensor's place in the graph prints: ", grad_fn=<mul>", ", requires_grad=True" or nothing.
extern std::string (*describe_gradient_hook)(const Tensor& t);
}  // namespace detail

}  // namespace taper
