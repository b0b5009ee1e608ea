#pragma once
// What stands between the brackets of x[...]: `x.index({Slice(1, 3), None, "...", 0, mask, idx})`.
#include <taper/tensor.h>

#include <concepts>
#include <string_view>

namespace taper {

/// A new dim of size 1 in an index; an end left open in a Slice.
inline constexpr std::nullopt_t None = std::nullopt;

/// As many whole dims as it takes to index all; also spelled "...".
struct EllipsisIndex {};
inline constexpr EllipsisIndex Ellipsis{};

/// The entries start, start + step, ... below stop; negative ends count from the end. The step must be positive.
struct Slice {
  Slice(std::optional<std::int64_t> first = None, std::optional<std::int64_t> end = None,
        std::optional<std::int64_t> every = None)
      : start(first), stop(end), step(every.value_or(1)) {}

  std::optional<std::int64_t> start, stop;
  std::int64_t step;
};

/// One entry of an index: a number, a range, None, an ellipsis, a bool, a mask or a tensor of positions.
class TensorIndex {
 public:
  enum class Kind : std::uint8_t { none, ellipsis, integer, boolean, slice, tensor };

  TensorIndex(std::nullopt_t) : kind_(Kind::none) {}
  TensorIndex(EllipsisIndex) : kind_(Kind::ellipsis) {}
  /// "..." only.
  TensorIndex(const char* text) : kind_(Kind::ellipsis) {
    check<ValueError>(std::string_view(text) == "...", "index: the text \"", text,
                      "\" is no index; the only one is \"...\"");
  }
  template <std::integral T>
  TensorIndex(T value) : integer_(std::int64_t(value)), kind_(std::same_as<T, bool> ? Kind::boolean : Kind::integer) {}
  TensorIndex(Slice slice) : slice_(slice), kind_(Kind::slice) {}
  /// bool: a mask, which stands for as many dims as it has. int64 or int32: positions; negative ones count from the
  /// end.
  TensorIndex(Tensor positions) : tensor_(std::move(positions)), kind_(Kind::tensor) {}

  Kind kind() const { return kind_; }
  std::int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  std::int64_t integer_ = 0;
  Slice slice_;
  Tensor tensor_;
  Kind kind_;
};

}  // namespace taper
