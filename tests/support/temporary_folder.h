#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

/// A folder of its own for one test, gone afterwards with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "taper_test_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  friend std::string operator/(const TemporaryFolder& folder, const std::string& name) {
    return folder.path_ + '/' + name;
  }

 private:
  std::string path_;
};
