#pragma once
#include <string>

namespace taper {

/// What a program should do instead of writing with this operator to memory that the backward pass needs. `of_leaf`:
/// whether that memory is a leaf's own.
std::string remedy_for(const char* writer, bool of_leaf);

}  // namespace taper
