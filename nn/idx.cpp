#include <taper/nn/idx.h>
#include <taper/operator.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

namespace taper::data {

namespace {

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};

/// The bytes of a file, decompressed if it begins as a gzip file does.
class ByteSource {
 public:
  explicit ByteSource(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    if (!file_) raise<IOError>("read_idx: cannot open '", path, "': ", std::generic_category().message(errno));
    std::error_code error;
    check<IOError>(std::filesystem::is_regular_file(path, error), "read_idx: '", path, "' is not a regular file");
    file_bytes_ = std::filesystem::file_size(path, error);
    refill();
    gzip_ = available_ >= 2 && next_[0] == 0x1f && next_[1] == 0x8b;
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (gzip_ && inflateInit2(&stream_, kGzipOnly) != Z_OK) raise<IOError>("read_idx: zlib does not start");
  }
  ~ByteSource() {
    if (gzip_) inflateEnd(&stream_);
  }
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// The most bytes that the file can turn out to hold.
  std::uint64_t upper_bound() const {
    constexpr std::uint64_t kBestRatio = 1032;  // of the deflate format, zlib's technical notes
    return gzip_ ? file_bytes_ * kBestRatio : file_bytes_;
  }
  /// Up to `bytes` bytes; fewer only at the end.
  std::size_t read(void* to, std::size_t bytes) {
    return gzip_ ? read_gzip(static_cast<Bytef*>(to), bytes) : read_plain(static_cast<Bytef*>(to), bytes);
  }

 private:
  void refill() {
    next_ = buffer_;
    available_ = std::fread(buffer_, 1, sizeof buffer_, file_.get());
    if (std::ferror(file_.get()))
      raise<IOError>("read_idx: cannot read '", path_, "': ", std::generic_category().message(errno));
  }
  std::size_t read_plain(Bytef* to, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
      if (available_ == 0) refill();
      if (available_ == 0) break;
      const std::size_t n = std::min(bytes - done, available_);
      std::memcpy(to + done, next_, n);
      next_ += n, available_ -= n, done += n;
    }
    return done;
  }
  std::size_t read_gzip(Bytef* to, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes && !ended_) {
      if (available_ == 0) refill();
      check<IOError>(available_ > 0, "read_idx: '", path_, "' is truncated: its gzip data stop in the middle");
      constexpr std::size_t kStep = 1u << 30;  // zlib counts in 32 bits
      stream_.next_in = next_, stream_.avail_in = uInt(available_);
      stream_.next_out = to + done, stream_.avail_out = uInt(std::min(bytes - done, kStep));
      const uInt room = stream_.avail_out;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      next_ = stream_.next_in, available_ = stream_.avail_in;
      done += room - stream_.avail_out;
      if (status == Z_STREAM_END)
        next_member();
      else
        check<IOError>(status == Z_OK || status == Z_BUF_ERROR, "read_idx: '", path_,
                       "' is damaged: ", stream_.msg ? stream_.msg : "the gzip data cannot be decompressed");
    }
    return done;
  }
  /// A gzip file may be several, one after the other.
  void next_member() {
    if (available_ == 0) refill();
    if (available_ == 0) {
      ended_ = true;
      return;
    }
    check<IOError>(next_[0] == 0x1f, "read_idx: '", path_, "' has bytes after the end of its gzip data");
    inflateReset(&stream_);
  }

  const std::string& path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::uint64_t file_bytes_ = 0;
  z_stream stream_{};
  bool gzip_ = false, ended_ = false;
  Bytef* next_ = nullptr;
  std::size_t available_ = 0;
  Bytef buffer_[1 << 16];
};

DType dtype_of_code(std::uint8_t code, const std::string& path) {
  switch (code) {
    case 0x08:
      return uint8;
    case 0x09:
      return int8;
    case 0x0B:
      return int16;
    case 0x0C:
      return int32;
    case 0x0D:
      return float32;
    case 0x0E:
      return float64;
    default:
      raise<IOError>("read_idx: '", path, "' is no IDX file: its third byte, the element type, is ", int(code));
  }
}

/// The file's numbers are big-endian.
template <class Word>
void swap_bytes(void* data, std::int64_t n) {
  auto* bytes = static_cast<unsigned char*>(data);
  for (std::int64_t i = 0; i < n; ++i) std::reverse(bytes + i * sizeof(Word), bytes + (i + 1) * sizeof(Word));
}

TensorSpec read_header(ByteSource& source, const std::string& path) {
  std::uint8_t magic[4];
  const bool whole = source.read(magic, 4) == 4;
  check<IOError>(whole && magic[0] == 0 && magic[1] == 0, "read_idx: '", path,
                 "' is no IDX file: it does not begin with two zero bytes");
  const DType dtype = dtype_of_code(magic[2], path);
  const int rank = magic[3];
  check<IOError>(rank > 0, "read_idx: '", path, "' is no IDX file: it has no dimensions");

  IntVec sizes;
  std::int64_t extent = std::int64_t(itemsize(dtype));  // in bytes, with sizes of 0 counted as 1: what strides need
  for (int d = 0; d < rank; ++d) {
    std::uint8_t b[4];
    check<IOError>(source.read(b, 4) == 4, "read_idx: '", path, "' is truncated: it ends inside its header");
    sizes.push_back(std::int64_t(b[0]) << 24 | b[1] << 16 | b[2] << 8 | b[3]);
    check<IOError>(!__builtin_mul_overflow(extent, std::max<std::int64_t>(sizes.back(), 1), &extent), "read_idx: '",
                   path, "' is damaged: its header describes more elements than any memory holds");
  }
  TensorSpec spec = TensorSpec::contiguous(sizes, dtype, cpu);
  const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  // Before anything is allocated: a header of 16 bytes must not be able to ask for terabytes.
  check<IOError>(empty || std::uint64_t(extent) <= source.upper_bound(), "read_idx: '", path,
                 "' is truncated: its header describes ", IntSpan(sizes), " ", dtype, ", more than the file can hold");
  return spec;
}

std::string find_file(const std::string& folder, const std::string& stem, const char* kind) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const char* dot : {"-", "."})
    for (const char* suffix : {"", ".gz"}) {
      const fs::path path = fs::path(folder) / (stem + dot + kind + suffix);
      if (fs::is_regular_file(path, error)) return path.string();
    }
  raise<IOError>("load_mnist: there is no ", stem, "-", kind, " or ", stem, "-", kind, ".gz in '", folder, "'");
}

}  // namespace

Tensor read_idx(const std::string& path) {
  ByteSource source(path);
  Tensor t = empty(read_header(source, path));
  const std::size_t got = source.read(t.impl()->data(), t.nbytes());
  check<IOError>(got == t.nbytes(), "read_idx: '", path, "' is truncated: its header describes ", t.nbytes(),
                 " bytes of elements, it holds ", got);
  std::uint8_t extra;
  check<IOError>(source.read(&extra, 1) == 0, "read_idx: '", path, "' has more bytes than the ", t.nbytes(),
                 " of elements that its header describes");
  if (t.element_size() == 2) swap_bytes<std::uint16_t>(t.impl()->data(), t.numel());
  if (t.element_size() == 4) swap_bytes<std::uint32_t>(t.impl()->data(), t.numel());
  if (t.element_size() == 8) swap_bytes<std::uint64_t>(t.impl()->data(), t.numel());
  return t;
}

LabelledImages load_mnist(const std::string& folder, bool train) {
  const std::string prefix = train ? "train" : "t10k";
  const std::string images_path = find_file(folder, prefix + "-images", "idx3-ubyte");
  const std::string labels_path = find_file(folder, prefix + "-labels", "idx1-ubyte");
  const Tensor images = read_idx(images_path), labels = read_idx(labels_path);
  check<IOError>(images.dtype() == uint8 && images.dim() == 3, "load_mnist: '", images_path,
                 "' should hold uint8[n, height, width], got ", images.spec());
  check<IOError>(labels.dtype() == uint8 && labels.dim() == 1, "load_mnist: '", labels_path,
                 "' should hold uint8[n], got ", labels.spec());
  check<IOError>(images.size(0) == labels.size(0), "load_mnist: '", folder, "' has ", images.size(0), " pictures but ",
                 labels.size(0), " labels for them");
  return {images, labels.to(int64)};
}

std::string fashion_mnist_folder() {
  const char* const folder = "/usr/share/datasets/fashion-mnist";
  std::error_code error;
  check<IOError>(std::filesystem::is_directory(folder, error), "fashion_mnist_folder: there is no '", folder,
                 "'; install Debian's package dataset-fashion-mnist, or name a folder with IDX files");
  return folder;
}

}  // namespace taper::data
