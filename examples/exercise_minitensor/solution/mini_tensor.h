#pragma once
// A tensor of floats: what the exercise comes to.
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

using Sizes = std::vector<std::int64_t>;  // one number per dimension

/// The number of indices is not the number of dimensions.
struct RankError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};
/// An index lies outside its dimension.
struct IndexError : std::out_of_range {
  using std::out_of_range::out_of_range;
};
/// No view shows these elements in this shape.
struct ViewError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

class MiniTensor {
 public:
  using Storage = std::shared_ptr<std::vector<float>>;

  /// New memory that holds `values`, the last dimension fastest.
  MiniTensor(std::vector<float> values, Sizes sizes)
      : MiniTensor(std::make_shared<std::vector<float>>(std::move(values)), sizes, row_major_strides(sizes), 0) {
    if (std::int64_t(storage_->size()) != numel())
      throw std::invalid_argument("the sizes ask for another number of values");
  }
  /// A view of memory that is there already.
  MiniTensor(Storage storage, Sizes sizes, Sizes strides, std::int64_t offset)
      : storage_(std::move(storage)), sizes_(std::move(sizes)), strides_(std::move(strides)), offset_(offset) {}

  const Storage& storage() const { return storage_; }
  const Sizes& sizes() const { return sizes_; }
  const Sizes& strides() const { return strides_; }  // in elements
  std::int64_t offset() const { return offset_; }    // in elements
  std::int64_t dim() const { return std::int64_t(sizes_.size()); }

  // ---- Stage 1: sizes and strides
  std::int64_t numel() const {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes_) count *= size;
    return count;
  }
  static Sizes row_major_strides(const Sizes& sizes) {
    Sizes strides(sizes.size());
    std::int64_t step = 1;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      strides[d] = step;
      step *= sizes[d];
    }
    return strides;
  }

  // ---- Stage 2: from an index to a place in the storage
  std::int64_t storage_index(const Sizes& index) const {
    if (index.size() != sizes_.size()) throw RankError("one index per dimension");
    std::int64_t place = offset_;
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (index[d] < 0 || index[d] >= sizes_[d]) throw IndexError("the index lies outside its dimension");
      place += index[d] * strides_[d];
    }
    return place;
  }
  float& at(const Sizes& index) const { return (*storage_)[std::size_t(storage_index(index))]; }

  // ---- Stage 3: all elements, in logical order
  std::vector<float> values() const {
    std::vector<float> all;
    Sizes index(sizes_.size(), 0);
    for (std::int64_t left = numel(); left > 0; --left) {
      all.push_back(at(index));
      for (std::size_t d = index.size(); d-- > 0;) {  // counts like an odometer
        if (++index[d] < sizes_[d]) break;
        index[d] = 0;
      }
    }
    return all;
  }

  // ---- Stage 4: transpose
  MiniTensor transpose(std::int64_t a, std::int64_t b) const {
    check_dim(a), check_dim(b);
    Sizes sizes = sizes_, strides = strides_;
    std::swap(sizes[std::size_t(a)], sizes[std::size_t(b)]);
    std::swap(strides[std::size_t(a)], strides[std::size_t(b)]);
    return {storage_, sizes, strides, offset_};
  }

  // ---- Stage 5: one entry of one dimension
  MiniTensor select(std::int64_t d, std::int64_t i) const {
    check_dim(d);
    if (i < 0 || i >= sizes_[std::size_t(d)]) throw IndexError("the index lies outside its dimension");
    Sizes sizes = sizes_, strides = strides_;
    sizes.erase(sizes.begin() + d);
    strides.erase(strides.begin() + d);
    return {storage_, sizes, strides, offset_ + i * strides_[std::size_t(d)]};
  }

  // ---- Stage 6: are the elements one dense block, in logical order?
  bool is_contiguous() const {
    if (numel() == 0) return true;
    const Sizes dense = row_major_strides(sizes_);
    for (std::size_t d = 0; d < sizes_.size(); ++d)
      if (sizes_[d] != 1 && strides_[d] != dense[d]) return false;  // a stride over one entry is never used
    return true;
  }

  // ---- Stage 7: another shape
  MiniTensor view(const Sizes& sizes) const {
    if (!is_contiguous()) throw ViewError("view wants contiguous elements; call contiguous() first");
    const MiniTensor shown(storage_, sizes, row_major_strides(sizes), offset_);
    if (shown.numel() != numel()) throw ViewError("the new shape has another number of elements");
    return shown;
  }

  // ---- Stage 8: a dense copy, if it takes one
  MiniTensor contiguous() const { return is_contiguous() ? *this : MiniTensor(values(), sizes_); }

 private:
  void check_dim(std::int64_t d) const {
    if (d < 0 || d >= dim()) throw IndexError("there is no such dimension");
  }

  Storage storage_;
  Sizes sizes_, strides_;
  std::int64_t offset_;
};
