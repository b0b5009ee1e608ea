#pragma once
// A tensor of floats, for you to write: README.md beside this folder says how. Everything that throws NotWritten is
// yours; the comments say what it is to do.
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
struct NotWritten : std::logic_error {
  using std::logic_error::logic_error;
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
  /// The number of elements: the product of the sizes, which is 1 if there are none.
  std::int64_t numel() const { throw NotWritten("numel"); }
  /// How far apart in the storage neighbours along each dimension are, if the last dimension is dense, the one before
  /// it steps over whole rows, and so on: [2, 3, 4] gives [12, 4, 1].
  static Sizes row_major_strides(const Sizes& /*sizes*/) { throw NotWritten("row_major_strides"); }

  // ---- Stage 2: from an index to a place in the storage
  /// The offset, and for every dimension its index times its stride. Throws RankError unless there is one index per
  /// dimension, IndexError if one is negative or not below its size.
  std::int64_t storage_index(const Sizes& /*index*/) const { throw NotWritten("storage_index"); }
  float& at(const Sizes& index) const { return (*storage_)[std::size_t(storage_index(index))]; }

  // ---- Stage 3: all elements, in logical order
  /// The elements as loops over the dimensions meet them, the last dimension innermost, whatever the strides.
  std::vector<float> values() const { throw NotWritten("values"); }

  // ---- Stage 4: transpose
  /// This memory with dimensions a and b exchanged. Copies nothing. Throws IndexError if there is no such dimension.
  MiniTensor transpose(std::int64_t /*a*/, std::int64_t /*b*/) const { throw NotWritten("transpose"); }

  // ---- Stage 5: one entry of one dimension
  /// What is at index i of dimension d, which is gone from the result. Copies nothing. Throws IndexError.
  MiniTensor select(std::int64_t /*d*/, std::int64_t /*i*/) const { throw NotWritten("select"); }

  // ---- Stage 6: are the elements one dense block, in logical order?
  /// Dimensions of one entry may have any stride, and so may all if there are no elements.
  bool is_contiguous() const { throw NotWritten("is_contiguous"); }

  // ---- Stage 7: another shape
  /// The same elements in this shape. Copies nothing. Throws ViewError if this is not contiguous, or if the shape has
  /// another number of elements.
  MiniTensor view(const Sizes& /*sizes*/) const { throw NotWritten("view"); }

  // ---- Stage 8: a dense copy, if it takes one
  /// This very memory if it is contiguous, else new memory that holds the elements in logical order.
  MiniTensor contiguous() const { throw NotWritten("contiguous"); }

 private:
  Storage storage_;
  Sizes sizes_, strides_;
  std::int64_t offset_;
};
