#pragma once
#include <taper/tensor.h>

#include <optional>
#include <string_view>

namespace taper {

/// self with more (or, for negative numbers, fewer) entries at the ends of its last dims. `pad` has two numbers for
/// each of them, before and after, the last dim first: {left, right, top, bottom, ...}.
///
/// mode is "constant", which fills with value (0 if none is given); "reflect", which goes back from the last entry
/// without repeating it; "replicate", which repeats it; or "circular", which starts over at the other end. Always new
/// memory. Differentiable.
/// Throws ShapeError where self has too few dims or too few entries, ValueError for an unknown mode.
Tensor pad(const Tensor& self, IntSpan pad, std::string_view mode = "constant", std::optional<Scalar> value = {});

}  // namespace taper
