#pragma once

namespace taper {

// Enough to declare an operator object in a header that programs include; <taper/operator.h> has the rest.
template <class Signature>
class StructuredOp;
template <class... Args>
class ViewOp;
template <class... Args>
class MultiViewOp;

}  // namespace taper
