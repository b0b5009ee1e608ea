#pragma once
// The files of one family of cases, plain or compressed.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "array.h"

namespace oracle {

/// Arguments keep their order: some rules speak of the first one.
using Json = nlohmann::ordered_json;

struct Family {
  std::string name;
  std::filesystem::path cases, tensors;
};
/// The families in a folder, in alphabetical order. Throws std::runtime_error if there is none.
std::vector<Family> find_families(const std::filesystem::path& folder);

std::vector<Json> read_cases(const Family& family);

/// The tensors of a safetensors file.
class Archive {
 public:
  explicit Archive(const std::filesystem::path& file);
  /// The elements named or written in a tensor spec, in the dtype that it declares.
  Array array(const Json& spec) const;

 private:
  Array stored(const std::string& name) const;

  struct Entry {
    std::string dtype;
    IntVec shape;
    std::size_t begin = 0, end = 0;
  };
  std::map<std::string, Entry> entries_;
  std::string data_;
};

}  // namespace oracle
