#pragma once
#include <string>

namespace taper {

/// Where the memory of this process is, as far as the library's own CPU allocator knows, one line each: the bytes of
/// tensors' elements, the rounding on top of them, the tensors, storages and graph nodes themselves, and what is kept
/// for later requests. Memory of other allocators, external arrays and libraries such as oneDNN is not counted.
std::string memory_report();

}  // namespace taper
