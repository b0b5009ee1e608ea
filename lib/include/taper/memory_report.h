#pragma once
#include <string>

namespace taper {

class Allocator;

/// Where the memory of this process is, as far as the library's own CPU allocator knows, one line each: the bytes of
/// tensors' elements, the rounding on top of them, the tensors, storages and graph nodes themselves, and what is kept
/// for later requests. Memory of other allocators, external arrays and libraries such as oneDNN is not counted.
std::string memory_report();

namespace detail {
/// Whether memory_stats() counts what it makes.
bool is_default_cpu_allocator(const Allocator* allocator) noexcept;
}  // namespace detail

}  // namespace taper
