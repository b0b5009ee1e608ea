#pragma once
#include <string>

namespace taper {

class Tensor;

/// What an operation cost and changed, found by looking at its result and at what it was made of, in one line:
///
///     new storage: no; copied: 0 bytes; moved: no; keeps alive: 24 bytes of the source; strides: [3, 1] -> [1, 3];
///     shares memory: yes; gradient: none; kernels: by strides
///
/// "gradient" is none, recorded, or cut: the source requires grad and the result does not.
std::string explain(const Tensor& result, const Tensor& source);

}  // namespace taper
