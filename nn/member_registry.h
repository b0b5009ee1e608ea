#pragma once
#include <taper/nn/parameter.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace taper::nn::detail {

/// The parameters, buffers and modules that exist in [begin, end), by address.
std::vector<std::pair<const void*, MemberKind>> members_within(const void* begin, const void* end);

}  // namespace taper::nn::detail
