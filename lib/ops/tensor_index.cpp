// x.index({...}) and x.index_put_({...}, value): an index is first applied as views, as far as it goes; what is left
// are positions along some dims of the last view.
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/index.h>
#include <taper/ops/view.h>

#include "positions.h"

namespace taper {
namespace {

struct Pick {
  Tensor index;  // bool or positions
  std::int64_t dim = 0;
};

struct Selection {
  Tensor view;
  std::vector<Pick> picks;
};

bool is_mask(const Tensor& t) { return t.dtype() == bool_; }

/// Dims of the indexed tensor that one entry stands for.
std::int64_t dims_taken(const TensorIndex& index) {
  switch (index.kind()) {
    case TensorIndex::Kind::integer:
    case TensorIndex::Kind::slice:
      return 1;
    case TensorIndex::Kind::tensor:
      check<ValueError>(index.tensor().defined(), "index: an index is an undefined tensor");
      return is_mask(index.tensor()) ? index.tensor().dim() : 1;
    default:
      return 0;
  }
}

/// Applies entries one after the other. `dim` is the dim of the view that the next entry is for.
class Selector {
 public:
  Selector(const Tensor& self, const std::vector<TensorIndex>& indices) : self_(self), done_{self, {}} {
    std::int64_t taken = 0;
    for (const TensorIndex& i : indices) taken += dims_taken(i);
    check<IndexError>(taken <= self.dim(), "index: ", taken, " dims are indexed but ", self, " has ", self.dim());
    rest_ = self.dim() - taken;
    for (const TensorIndex& i : indices) apply(i);
  }
  Selection take() { return std::move(done_); }

 private:
  void apply(const TensorIndex& i) {
    switch (i.kind()) {
      case TensorIndex::Kind::none:
        done_.view = unsqueeze(done_.view, dim_++);
        return;
      case TensorIndex::Kind::ellipsis:
        check<IndexError>(!seen_ellipsis_, "index: an index can have one ellipsis, got a second");
        seen_ellipsis_ = true;
        dim_ += rest_;
        return;
      case TensorIndex::Kind::integer:
        return apply_integer(i.integer());
      case TensorIndex::Kind::boolean:
        return apply_boolean(i.boolean());
      case TensorIndex::Kind::slice:
        return apply_slice(i.slice());
      case TensorIndex::Kind::tensor:
        return apply_tensor(i.tensor());
    }
  }
  void apply_integer(std::int64_t i) {
    const std::int64_t size = done_.view.size(dim_);
    check<IndexError>(i >= -size && i < size, "index: index ", i, " is out of range for dim ", self_dim_, " of ", self_,
                      ", which has size ", size);
    done_.view = ops::select(done_.view, dim_, i < 0 ? i + size : i);
    ++self_dim_;
  }
  void apply_slice(const Slice& s) {
    check<ValueError>(s.step > 0, "index: the step of a slice is ", s.step,
                      ", expected 1 or more; to read backwards, copy with flip()");
    if (s.start || s.stop || s.step != 1) done_.view = slice(done_.view, dim_, s.start, s.stop, s.step);
    ++dim_, ++self_dim_;
  }
  /// true is a new dim of size 1, false one of size 0; the result is a copy, as of any mask.
  void apply_boolean(bool on) {
    done_.view = unsqueeze(done_.view, dim_);
    const Device device = self_.device();
    done_.picks.push_back({on ? zeros({1}, int64, device) : empty({0}, int64, device), dim_++});
  }
  void apply_tensor(const Tensor& t) {
    if (t.dim() == 0 && is_mask(t)) return apply_boolean(t.item<bool>());
    if (!is_mask(t)) check_position_dtype("index", t);
    if (t.dim() == 0) return apply_integer(t.item<std::int64_t>());
    done_.picks.push_back({t, dim_});
    const std::int64_t taken = is_mask(t) ? t.dim() : 1;
    dim_ += taken, self_dim_ += taken;
  }

  const Tensor& self_;
  Selection done_;
  std::int64_t dim_ = 0, self_dim_ = 0, rest_ = 0;
  bool seen_ellipsis_ = false;
};

Positions positions_in(const char* op, const Selection& s) {
  Positions at;
  for (const Pick& p : s.picks) {
    if (is_mask(p.index))
      at.add_mask(op, p.index, s.view, p.dim);
    else
      at.add(p.index, p.dim);
  }
  return at;
}

/// The mask shaped to broadcast against the view, when it is all that is picked by.
std::optional<Tensor> only_mask(const Selection& s) {
  if (s.picks.size() != 1 || !is_mask(s.picks[0].index)) return {};
  const auto& [mask, dim] = s.picks[0];
  for (std::int64_t d = 0; d < mask.dim(); ++d)
    if (mask.size(d) != s.view.size(dim + d)) return {};  // the general path explains
  IntVec sizes = mask.sizes().vec();
  sizes.resize(std::size_t(s.view.dim() - dim), 1);
  return mask.reshape(sizes);
}

Tensor& write_at(Tensor& self, const std::vector<TensorIndex>& indices, const Tensor& value) {
  Selection s = Selector(self, indices).take();
  if (s.picks.empty()) {
    s.view.copy_(prepared_values(s.view, value, std::size_t(s.view.dim())));
    return self;
  }
  if (value.numel() == 1) {
    if (const std::optional<Tensor> mask = only_mask(s)) {
      s.view.masked_fill_(*mask, value.reshape(IntSpan{}));
      return self;
    }
  }
  const Positions at = positions_in("index_put_", s);
  std::size_t result_dims = std::size_t(s.view.dim()) - at.dims.size(), index_dims = 0;
  for (const Tensor& i : at.indices) index_dims = std::max(index_dims, std::size_t(i.dim()));
  result_dims += index_dims;
  ops::index_put.inplace(s.view, s.view, at.indices, prepared_values(s.view, value, result_dims), at.dims, false);
  return self;
}

}  // namespace

Tensor Tensor::index(const std::vector<TensorIndex>& indices) const {
  const Selection s = Selector(*this, indices).take();
  if (!s.picks.empty()) {
    const Positions at = positions_in("index", s);
    return ops::index(s.view, at.indices, at.dims);
  }
  // All of self: still a view of its own, as any other index gives.
  return s.view.is_same(*this) ? taper::expand(*this, sizes()) : s.view;
}
Tensor Tensor::index(std::initializer_list<TensorIndex> indices) const {
  return index(std::vector<TensorIndex>(indices));
}

Tensor& Tensor::index_put_(const std::vector<TensorIndex>& indices, const Tensor& value) {
  return write_at(*this, indices, value);
}
Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, const Tensor& value) {
  return write_at(*this, std::vector<TensorIndex>(indices), value);
}
Tensor& Tensor::index_put_(const std::vector<TensorIndex>& indices, Scalar value) {
  return write_at(*this, indices, wrapped_number(value));
}
Tensor& Tensor::index_put_(std::initializer_list<TensorIndex> indices, Scalar value) {
  return write_at(*this, std::vector<TensorIndex>(indices), wrapped_number(value));
}

}  // namespace taper
