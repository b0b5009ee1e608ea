#include <taper/operator.h>
#include <taper/ops/join.h>

#include <cstring>

#include "joined.h"

namespace taper::cpu_kernels {
void install_join();
namespace {

/// Fills the blocks of t into every `pitch` bytes of `to`.
void copy_blocks(std::byte* to, std::size_t pitch, const Tensor& t, std::size_t block, std::int64_t count) {
  const auto* from = static_cast<const std::byte*>(t.impl()->data());
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + std::size_t(i) * pitch, from + std::size_t(i) * block, block);
}

void cat(Tensor& out, const TensorList& tensors, const std::int64_t& any_dim) {
  if (out.numel() == 0) return;
  const std::int64_t dim = any_dim < 0 ? any_dim + out.dim() : any_dim;
  std::int64_t outer = 1;
  for (std::int64_t d = 0; d < dim; ++d) outer *= out.size(d);
  const std::size_t pitch = out.nbytes() / std::size_t(outer);
  std::int64_t start = 0;
  auto* at = static_cast<std::byte*>(out.impl()->data());
  for (const Tensor& t : tensors) {
    if (t.numel() == 0) continue;  // skipped, or nothing along dim
    const std::size_t block = t.nbytes() / std::size_t(outer);
    if (out.is_contiguous() && t.is_contiguous() && t.dtype() == out.dtype()) {
      copy_blocks(at, pitch, t, block, outer);
    } else {
      Tensor part = joined::part_of(out, dim, start, t.size(dim));
      detail::copy_into(part, t);
    }
    start += t.size(dim);
    at += t.size(dim) * (out.stride(dim) * std::int64_t(out.element_size()));
  }
}

void stack(Tensor& out, const TensorList& tensors, const std::int64_t& any_dim) {
  if (out.numel() == 0) return;
  const std::int64_t dim = any_dim < 0 ? any_dim + out.dim() : any_dim;
  std::int64_t outer = 1;
  for (std::int64_t d = 0; d < dim; ++d) outer *= out.size(d);
  const std::size_t pitch = out.nbytes() / std::size_t(outer), block = pitch / tensors.size();
  auto* at = static_cast<std::byte*>(out.impl()->data());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (t.is_contiguous() && t.dtype() == out.dtype()) {
      copy_blocks(at + i * block, pitch, t, block, outer);
      continue;
    }
    Tensor part = joined::entry_of(out, dim, std::int64_t(i));
    detail::copy_into(part, t);
  }
}

}  // namespace

void install_join() {
  ops::cat.set_kernel(DispatchKey::CPU, cat);
  ops::stack.set_kernel(DispatchKey::CPU, stack);
}

}  // namespace taper::cpu_kernels
