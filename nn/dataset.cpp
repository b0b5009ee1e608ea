#include <taper/factory.h>
#include <taper/grad_mode.h>
#include <taper/nn/data.h>
#include <taper/ops/image.h>

#include <cstring>

namespace taper::data {

namespace {

/// Rows that can be copied as blocks of bytes.
Tensor as_rows(const Tensor& t) {
  check<ShapeError>(t.dim() > 0, "TensorDataset: a tensor without dimensions has no rows, got ", t.spec());
  check<DeviceError>(t.device().is_cpu(), "TensorDataset: data sets are kept on the cpu, got ", t.spec(),
                     "; a transform can move each batch");
  const NoGradGuard no_grad;
  return t.detach().contiguous();
}

Tensor gather_rows(const Tensor& from, IntSpan indices) {
  IntVec sizes = from.sizes().vec();
  sizes[0] = std::int64_t(indices.size());
  Tensor out = empty(sizes, from.dtype(), cpu);  // whatever the default device
  const std::size_t row = from.size(0) == 0 ? 0 : from.nbytes() / std::size_t(from.size(0));
  if (row == 0) return out;
  const auto* source = static_cast<const std::byte*>(from.data_ptr());
  auto* to = static_cast<std::byte*>(out.impl()->data());
  for (const std::int64_t i : indices) {
    std::memcpy(to, source + std::size_t(i) * row, row);
    to += row;
  }
  return out;
}

}  // namespace

TensorDataset::TensorDataset(const Tensor& data, const Tensor& target) : data_(as_rows(data)) {
  if (!target.defined()) return;
  target_ = as_rows(target);
  check<ShapeError>(data_.size(0) == target_.size(0), "TensorDataset: data ", data_.spec(), " and target ",
                    target_.spec(), " must have the same number of rows");
}

Batch TensorDataset::get_batch(IntSpan indices) const {
  for (const std::int64_t i : indices)
    check<IndexError>(i >= 0 && i < size(), "TensorDataset: there is no sample ", i, " among ", size());
  return {gather_rows(data_, indices), target_.defined() ? gather_rows(target_, indices) : Tensor()};
}

Batch Normalize::operator()(Batch batch) const {
  return {normalize_images(batch.data, mean_, std_), std::move(batch.target)};
}

}  // namespace taper::data
