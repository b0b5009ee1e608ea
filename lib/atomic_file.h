#pragma once
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace taper {

/// A regular file, open for reading. `reader` is the function that messages name.
class InputFile {
 public:
  InputFile(const char* reader, const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t size() const { return size_; }
  /// Fills `data` from byte `offset` on. Throws IOError if the file ends before.
  void read(void* data, std::size_t bytes, std::uint64_t offset) const;

 private:
  const char* reader_;
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

/// A file that comes into being when commit() succeeds, replacing what was there, and leaves no trace otherwise. Like a
/// write to the file that was there, it follows symbolic links and keeps the permissions. Throws IOError if what is
/// there is no regular file.
class AtomicFile {
 public:
  AtomicFile(const char* writer, const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t bytes);
  /// Forces the bytes to disk and gives the file its name.
  void commit();

 private:
  void take_owner_and_mode(const struct stat& old) noexcept;
  [[noreturn]] void raise_failed(const char* what, int error) const;
  void close_quietly() noexcept;

  const char* writer_;
  std::string path_, temporary_;
  int fd_ = -1;
};

}  // namespace taper
