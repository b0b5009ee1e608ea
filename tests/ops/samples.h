#pragma once
// Sample calls of every operator: what the checks of gradients, forms and dtypes run, and what docs/ops.md is made
// from. The table is samples.cpp; a new operator needs a line or a few there.
#include <taper/operator.h>

#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace samples {

using taper::IntVec;
using taper::OpEntry;
using taper::Tensor;
using taper::TensorList;

/// What stands for one tensor argument.
struct Operand {
  enum class Kind {
    real,      ///< floating; the result depends on it
    flat,      ///< floating; it has a gradient, which is zero
    constant,  ///< floating; the operator has no derivative by it and refuses one that requires grad
    state,     ///< floating; never requires grad, may be written to
    made,      ///< floating; comes from the forward pass, so it is contiguous and has no history
    index,     ///< int64 in [0, high)
    mask,
    bytes,  ///< uint8 below high
    absent
  };
  Kind kind = Kind::absent;
  IntVec shape = {};
  double low = 0, high = 0;
  bool is_floating() const { return kind <= Kind::made; }
};
inline Operand real(IntVec shape, double low = -2, double high = 2) {
  return {Operand::Kind::real, std::move(shape), low, high};
}
inline Operand flat(IntVec shape, double low = -2, double high = 2) {
  return {Operand::Kind::flat, std::move(shape), low, high};
}
inline Operand constant(IntVec shape, double low = -2, double high = 2) {
  return {Operand::Kind::constant, std::move(shape), low, high};
}
inline Operand state(IntVec shape, double low = -2, double high = 2) {
  return {Operand::Kind::state, std::move(shape), low, high};
}
inline Operand made(IntVec shape, double low = -2, double high = 2) {
  return {Operand::Kind::made, std::move(shape), low, high};
}
inline Operand index(IntVec shape, std::int64_t limit) {
  return {Operand::Kind::index, std::move(shape), 0, double(limit)};
}
inline Operand mask(IntVec shape) { return {Operand::Kind::mask, std::move(shape), 0, 1}; }
inline Operand bytes(IntVec shape, int limit = 256) {
  return {Operand::Kind::bytes, std::move(shape), 0, double(limit)};
}
inline Operand absent() { return {}; }

/// One call: its operands, and the operator with its other arguments in all forms it has.
struct Sample {
  std::vector<Operand> operands;
  std::function<TensorList(const TensorList& in)> call;
  std::function<void(Tensor& self, const TensorList& in)> inplace;  ///< self stands for in[0]; empty: no such form
  std::function<void(Tensor& out, const TensorList& in)> out;       ///< empty: no such form
};

struct OpSamples {
  const OpEntry* op = nullptr;
  std::string name;  ///< of the object in taper::ops
  std::vector<Sample> samples = {};
  /// Results from here on belong to the backward pass and have no gradient.
  std::size_t results = 8;
  bool on_meta = true;     ///< false: it names another device
  bool any_layout = true;  ///< false: what it computes depends on how the operands lie in memory
  /// Of the differences that gradients are compared with.
  double eps = 1e-6, atol = 1e-5;
};

/// All of them, in the order of the table.
const std::vector<OpSamples>& all();

// ---- How a call is made from a list of operands ----

template <class T>
inline constexpr bool is_tensor_argument =
    std::is_same_v<T, Tensor> || std::is_same_v<T, TensorList> || std::is_same_v<T, std::optional<Tensor>>;
/// A borrowed list is kept as a list.
template <class T>
using Kept = std::conditional_t<std::is_same_v<T, taper::IntSpan>, IntVec, T>;
template <class T>
struct PlainArgument {
  using type = std::tuple<Kept<T>>;
};
template <class T>
requires is_tensor_argument<T>
struct PlainArgument<T> {
  using type = std::tuple<>;
};
/// The arguments that hold no tensor.
template <class... A>
using PlainArguments = decltype(std::tuple_cat(std::declval<typename PlainArgument<A>::type>()...));

/// Makes the argument list of one call.
template <class... A>
class Arguments {
 public:
  Arguments(const TensorList& in, const PlainArguments<A...>& plain)
      : values_(make(in, plain, std::index_sequence_for<A...>())) {}
  template <class F>
  decltype(auto) apply(F&& f) const {
    return std::apply(f, values_);
  }

 private:
  static constexpr std::size_t kLists = (std::size_t(std::is_same_v<A, TensorList>) + ... + 0);
  static constexpr std::size_t kTensors = (std::size_t(is_tensor_argument<A>) + ... + 0);
  static constexpr std::size_t plain_before(std::size_t position) {
    constexpr bool plain[] = {!is_tensor_argument<A>...};
    std::size_t n = 0;
    for (std::size_t i = 0; i < position; ++i) n += plain[i];
    return n;
  }
  template <std::size_t... I>
  static std::tuple<A...> make(const TensorList& in, const PlainArguments<A...>& plain, std::index_sequence<I...>) {
    std::size_t next = 0;  // the list in braces is evaluated from left to right
    return std::tuple<A...>{take<A, plain_before(I)>(in, plain, next)...};
  }
  template <class T, std::size_t place>
  static T take(const TensorList& in, const PlainArguments<A...>& plain, std::size_t& next) {
    if constexpr (std::is_same_v<T, Tensor>) {
      return in[next++];
    } else if constexpr (std::is_same_v<T, std::optional<Tensor>>) {
      const Tensor& t = in[next++];
      return t.defined() ? std::optional<Tensor>(t) : std::nullopt;
    } else if constexpr (std::is_same_v<T, TensorList>) {  // takes what the other tensor arguments leave
      const std::size_t n = in.size() - (kTensors - kLists);
      const auto first = in.begin() + std::ptrdiff_t(next);
      next += n;
      return TensorList(first, first + std::ptrdiff_t(n));
    } else {
      return std::get<place>(plain);
    }
  }
  std::tuple<A...> values_;
};

template <std::size_t N>
TensorList listed(const std::array<Tensor, N>& ts) {
  return TensorList(ts.begin(), ts.end());
}
inline TensorList listed(const Tensor& t) { return {t}; }
inline TensorList listed(TensorList ts) { return ts; }

template <class R, class... A>
struct Bound {
  template <class Op>
  static Sample make(const Op& op, std::vector<Operand> operands, PlainArguments<A...> plain) {
    Sample s{std::move(operands), {}, {}, {}};
    s.call = [&op, plain](const TensorList& in) {
      return Arguments<A...>(in, plain).apply([&](const A&... a) { return listed(op(a...)); });
    };
    using First = std::tuple_element_t<0, std::tuple<A..., void>>;
    if constexpr (std::is_same_v<R, Tensor>) {
      s.out = [&op, plain](Tensor& out, const TensorList& in) {
        Arguments<A...>(in, plain).apply([&](const A&... a) { op.out(out, a...); });
      };
      if constexpr (std::is_same_v<First, Tensor>)
        if (std::string(op.inplace_name()) != op.name())
          s.inplace = [&op, plain](Tensor& self, const TensorList& in) {
            TensorList with_self = in;
            with_self[0] = self;
            Arguments<A...>(with_self, plain).apply([&](const A&... a) { op.inplace(self, a...); });
          };
    }
    return s;
  }
  using Plain = PlainArguments<A...>;
};
template <class Op>
struct Binding;
template <class R, class... A>
struct Binding<taper::StructuredOp<R(A...)>> : Bound<R, A...> {};
template <class... A>
struct Binding<taper::ViewOp<A...>> : Bound<void, Tensor, A...> {};
template <class... A>
struct Binding<taper::MultiViewOp<A...>> : Bound<void, Tensor, A...> {};

/// With x + D, or x + x^T + D, for the first, x; D has 5, 6, 7, ... on its diagonal.
TensorList with_regular_first(TensorList in, bool symmetric);

/// "exp" for taper::ops::exp.
template <auto& Op>
std::string name_of() {
  const std::string text =
      __PRETTY_FUNCTION__;  // "std::string samples::name_of() [with auto& Op = taper::ops::exp; ...]"
  const std::size_t end = text.find_first_of(";]", text.find("Op = "));
  const std::size_t begin = text.rfind("::", end) + 2;
  return text.substr(begin, end - begin);
}

/// Adds samples to one operator: `row<ops::mul>(table).with(operands, other arguments...)`.
template <auto& Op>
class Row {
 public:
  explicit Row(std::vector<OpSamples>& table) : table_(table), place_(table.size()) {
    table.push_back({&Op, name_of<Op>()});
  }
  template <class... Plain>
  Row& with(std::vector<Operand> operands, Plain... plain) {
    entry().samples.push_back(Of::make(Op, std::move(operands), Others(std::move(plain)...)));
    return *this;
  }
  /// The samples so far get matrices with inverses and different singular values, made of their first operand, also
  /// where that repeats one row; `symmetric`: and symmetric.
  Row& regular(bool symmetric = false) {
    for (Sample& s : entry().samples) {
      s.call = [call = s.call, symmetric](const TensorList& in) { return call(with_regular_first(in, symmetric)); };
      if (s.out)
        s.out = [out = s.out, symmetric](Tensor& y, const TensorList& in) {
          out(y, with_regular_first(in, symmetric));
        };
    }
    return *this;
  }
  Row& results(std::size_t n) { return entry().results = n, *this; }
  Row& one_layout() { return entry().any_layout = false, *this; }
  Row& only_cpu() { return entry().on_meta = false, *this; }
  Row& steps(double eps, double atol) { return entry().eps = eps, entry().atol = atol, *this; }

 private:
  using Of = Binding<std::remove_reference_t<decltype(Op)>>;
  using Others = typename Of::Plain;
  OpSamples& entry() { return table_[place_]; }
  std::vector<OpSamples>& table_;
  std::size_t place_;
};

}  // namespace samples
