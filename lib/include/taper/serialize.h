#pragma once
#include <taper/tensor.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace taper {

/// Tensors by name, in the order in which they were put in: what state_dict() returns and what files hold.
class TensorDict {
 public:
  using Entry = std::pair<std::string, Tensor>;

  TensorDict() = default;
  /// Throws ValueError if a name comes twice.
  TensorDict(std::initializer_list<Entry> entries);
  TensorDict(const std::map<std::string, Tensor>& entries);

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  std::vector<Entry>::const_iterator begin() const { return entries_.begin(); }
  std::vector<Entry>::const_iterator end() const { return entries_.end(); }

  bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// Null if there is none of this name.
  const Tensor* find(std::string_view name) const;
  /// Throws IndexError if there is none of this name.
  const Tensor& at(std::string_view name) const;
  /// The tensor of this name; an undefined one is added if there is none.
  Tensor& operator[](std::string_view name);
  /// Adds at the end. Throws ValueError if the name is taken.
  void insert(std::string name, Tensor t);
  /// False if there is none of this name.
  bool erase(std::string_view name);

 private:
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

/// Texts that a file keeps beside its tensors.
using Metadata = std::map<std::string, std::string>;

/// Writes the tensors to a file in the safetensors format, row by row, whatever their strides and device.
///
/// The file appears whole or not at all: it is written under a temporary name in the same folder, forced to disk and
/// renamed. A file that it replaces keeps its permissions, a symbolic link its target. Throws ValueError for undefined
/// tensors and for names that are not UTF-8 or are "__metadata__", and IOError if the file cannot be written; a file
/// that was there before is then untouched.
void save_file(const TensorDict& tensors, const std::string& path, const Metadata& metadata = {});

/// Reads a safetensors file into new tensors on the cpu, in the order of its header. `metadata`, if not null, gets the
/// file's texts. Throws IOError if the file cannot be read or is not exactly what its header says, and
/// NotImplementedError for a dtype that Taper does not have; nothing that the caller holds has then changed.
TensorDict load_file(const std::string& path, Metadata* metadata = nullptr);

}  // namespace taper
