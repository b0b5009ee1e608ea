#include "atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <taper/error.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace taper {

namespace {

std::string reason(int error) { return std::generic_category().message(error); }

/// The file that a write to `path` is meant for: a symbolic link keeps pointing where it does, also to a file that is
/// not there yet.
std::string link_target(const char* writer, const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux
  std::filesystem::path place = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!std::filesystem::is_symlink(place, error)) return place.string();
    const std::filesystem::path target = std::filesystem::read_symlink(place, error);
    if (error) raise<IOError>(writer, ": cannot read the symbolic link '", place.string(), "': ", error.message());
    place = place.parent_path() / target;  // an absolute target replaces what stands before it
  }
  raise<IOError>(writer, ": '", path, "' is a symbolic link that leads to itself");
}

std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return path + ".tmp." + std::to_string(::getpid()) + '.' + std::to_string(count++);
}

}  // namespace

InputFile::InputFile(const char* reader, const std::string& path)
    : reader_(reader), path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) raise<IOError>(reader_, ": cannot open '", path_, "': ", reason(errno));
  struct stat status {};
  const bool regular = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
  if (!regular) {
    ::close(fd_);
    raise<IOError>(reader_, ": '", path_, "' is not a regular file");
  }
  size_ = std::uint64_t(status.st_size);
}

InputFile::~InputFile() { ::close(fd_); }

void InputFile::read(void* data, std::size_t bytes, std::uint64_t offset) const {
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::pread(fd_, to, bytes, off_t(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) raise<IOError>(reader_, ": cannot read '", path_, "': ", reason(errno));
    if (n == 0) raise<IOError>(reader_, ": '", path_, "' ends at byte ", offset, ", ", bytes, " bytes too early");
    to += n, offset += std::uint64_t(n), bytes -= std::size_t(n);
  }
}

AtomicFile::AtomicFile(const char* writer, const std::string& path)
    : writer_(writer), path_(link_target(writer, path)), temporary_(temporary_name(path_)) {
  struct stat old {};
  const bool replaces = ::stat(path_.c_str(), &old) == 0;
  check<IOError>(!replaces || S_ISREG(old.st_mode), writer_, ": '", path_, "' is not a regular file");
  // What only the owner may read is never there for others, not for a moment.
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666);
  if (fd_ < 0) raise<IOError>(writer_, ": cannot create '", temporary_, "': ", reason(errno));
  if (replaces) take_owner_and_mode(old);
}

void AtomicFile::take_owner_and_mode(const struct stat& old) noexcept {
  struct stat own {};
  if (::fstat(fd_, &own) != 0) return;
  mode_t mode = old.st_mode & 0777;
  // Only root may give files away; others keep the group if they are in it. Its rights must not go to another group.
  const bool given = own.st_uid != old.st_uid && ::fchown(fd_, old.st_uid, old.st_gid) == 0;
  if (!given && own.st_gid != old.st_gid && ::fchown(fd_, own.st_uid, old.st_gid) != 0) mode &= ~mode_t(S_IRWXG);
  // Some file systems know no permissions. Elsewhere the owner alone has access if this fails, so nothing leaks.
  static_cast<void>(::fchmod(fd_, mode));
}

AtomicFile::~AtomicFile() { close_quietly(); }

void AtomicFile::close_quietly() noexcept {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
  fd_ = -1;
}

void AtomicFile::raise_failed(const char* what, int error) const {
  raise<IOError>(writer_, ": cannot ", what, " '", path_, "': ", reason(error), "; nothing there has changed");
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::write(fd_, from, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) raise_failed("write", errno);
    from += n, bytes -= std::size_t(n);
  }
}

void AtomicFile::commit() {
  // Without the sync a crash could leave the new name on an empty file.
  if (::fsync(fd_) != 0) raise_failed("write", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) raise_failed("replace", errno);
  ::close(fd_);
  fd_ = -1;
  // The name itself is on disk once the folder is. Some file systems cannot sync a folder: then it is left to them.
  std::string folder = std::filesystem::path(path_).parent_path().string();
  if (folder.empty()) folder = ".";
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  ::fsync(directory);
  ::close(directory);
}

}  // namespace taper
