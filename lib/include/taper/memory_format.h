#pragma once
#include <taper/sizes_and_strides.h>

#include <cstdint>

namespace taper {

class Tensor;

/// The order in memory of a shape [n, c, ...]: a layout is nothing but strides, the shape stays.
enum class MemoryFormat : std::uint8_t {
  contiguous,    ///< row-major: [n, c, h, w]
  channels_last  ///< channels innermost: [n, h, w, c]
};

/// How elements are kept at all. Taper has strided tensors only: asking for another kind is a NotImplementedError.
enum class Layout : std::uint8_t { strided, sparse };

/// Dense strides in this order. channels_last needs three dimensions or more.
SizesAndStrides dense_geometry(IntSpan sizes, MemoryFormat format);

/// The order that t's strides ask for, dense or not; operators on images return their results in it.
/// Where sizes of 1 leave the order open, their strides decide.
MemoryFormat suggested_memory_format(const Tensor& t);

}  // namespace taper
