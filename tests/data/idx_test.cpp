#include <taper/nn/idx.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/catch.h"
#include "support/temporary_folder.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {

std::string big_endian(std::uint32_t v) { return {char(v >> 24), char(v >> 16), char(v >> 8), char(v)}; }

std::string header(int type, std::initializer_list<std::uint32_t> sizes) {
  std::string s{0, 0, char(type), char(sizes.size())};
  for (const std::uint32_t n : sizes) s += big_endian(n);
  return s;
}

std::string gzip(const std::string& bytes) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, uLong(bytes.size())) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())), z.avail_in = uInt(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data()), z.avail_out = uInt(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string file(const TemporaryFolder& folder, const std::string& name, const std::string& bytes) {
  std::ofstream(folder / name, std::ios::binary) << bytes;
  return folder / name;
}

}  // namespace

TEST_CASE("an IDX file is read with its shape and dtype, plain or compressed") {
  TemporaryFolder folder;
  const std::string bytes = header(8, {2, 1, 3}) + std::string("\1\2\3\0\xff\5", 6);
  for (const std::string& form : {bytes, gzip(bytes), gzip(bytes.substr(0, 7)) + gzip(bytes.substr(7))}) {
    const Tensor t = data::read_idx(file(folder, "x", form));
    CHECK(t.dtype() == uint8);
    CHECK(t.sizes() == IntSpan{2, 1, 3});
    CHECK(t.to_vector<std::uint8_t>() == std::vector<std::uint8_t>{1, 2, 3, 0, 255, 5});
  }
  CHECK(data::read_idx(file(folder, "ints", header(0x0C, {2}) + big_endian(7) + big_endian(0xffffffff)))
            .to_vector<std::int32_t>() == std::vector<std::int32_t>{7, -1});
  CHECK(data::read_idx(file(folder, "bytes", header(9, {2}) + "\x7f\xff")).to_vector<std::int8_t>() ==
        std::vector<std::int8_t>{127, -1});
  CHECK(data::read_idx(file(folder, "shorts", header(0x0B, {2}) + std::string("\1\0\xff\xfe", 4)))
            .to_vector<std::int16_t>() == std::vector<std::int16_t>{256, -2});
  CHECK(data::read_idx(file(folder, "floats", header(0x0D, {1}) + big_endian(0x3fc00000))).to_vector<float>() ==
        std::vector<float>{1.5f});
  CHECK(data::read_idx(file(folder, "doubles", header(0x0E, {1}) + big_endian(0xc0040000) + big_endian(0)))
            .to_vector<double>() == std::vector<double>{-2.5});
  CHECK(data::read_idx(file(folder, "none", header(8, {0, 28, 28}))).sizes() == IntSpan{0, 28, 28});
}

TEST_CASE("a hostile IDX file is refused with a reason, before memory is asked for") {
  TemporaryFolder folder;
  const auto refuses = [&](const std::string& bytes, const char* reason) {
    INFO(reason);
    const std::string path = file(folder, "x", bytes);
    CHECK_THROWS_AS(data::read_idx(path), Error);
    CHECK_THROWS_WITH(data::read_idx(path), Contains(reason));
  };
  const std::string good = header(8, {2, 2}) + "abcd", zipped = gzip(good);

  refuses("", "does not begin with two zero bytes");
  refuses(std::string("\0\0", 2), "does not begin with two zero bytes");
  refuses("P5 28 28", "does not begin with two zero bytes");
  refuses(header(7, {1}) + "a", "the element type, is 7");
  refuses(header(10, {1}) + "a", "the element type, is 10");
  refuses(header(8, {}) + "a", "no dimensions");
  refuses(header(8, {2, 2}).substr(0, 9), "ends inside its header");
  refuses(header(8, {2, 2}) + "abc", "is truncated");
  refuses(good + "e", "has more bytes");
  refuses(header(8, {0xffffffff, 0x7fffffff}), "more than the file can hold");
  refuses(header(8, {0xffffffff, 0xffffffff, 0xffffffff}), "more elements than any memory");
  refuses(header(8, {0, 0xffffffff, 0xffffffff, 0xffffffff}), "more elements than any memory");
  refuses(gzip(header(8, {0xffffffff, 0xffff})), "more than the file can hold");

  refuses(gzip(good + "e"), "has more bytes");
  refuses(gzip(good.substr(0, good.size() - 1)), "is truncated");
  for (std::size_t n = 3; n < zipped.size(); ++n) refuses(zipped.substr(0, n), "is truncated");
  refuses(zipped + "trailing", "after the end of its gzip data");
  std::string wrong_sum = zipped;
  wrong_sum[zipped.size() - 6] ^= 1;
  refuses(wrong_sum, "incorrect data check");

  CHECK_THROWS_WITH(data::read_idx(folder / "absent"), Contains("No such file"));
  CHECK_THROWS_WITH(data::read_idx(folder.path()), Contains("not a regular file"));
}

TEST_CASE("pictures and labels are found under the names that data sets of this kind use") {
  TemporaryFolder folder;
  const std::string images = header(8, {2, 1, 2}) + "abcd", labels = header(8, {2}) + std::string("\3\0", 2);
  file(folder, "train-images-idx3-ubyte.gz", gzip(images));
  CHECK_THROWS_WITH(data::load_mnist(folder.path(), true), Contains("there is no train-labels-idx1-ubyte"));
  file(folder, "train-labels.idx1-ubyte", labels);

  const data::LabelledImages train = data::load_mnist(folder.path(), true);
  CHECK(train.images.sizes() == IntSpan{2, 1, 2});
  CHECK(train.labels.dtype() == int64);
  CHECK(train.labels.to_vector<std::int64_t>() == std::vector<std::int64_t>{3, 0});

  file(folder, "t10k-images-idx3-ubyte", images);
  file(folder, "t10k-labels-idx1-ubyte", header(8, {1}) + "a");
  CHECK_THROWS_WITH(data::load_mnist(folder.path(), false), Contains("2 pictures but 1 labels"));
  file(folder, "t10k-labels-idx1-ubyte", images);
  CHECK_THROWS_WITH(data::load_mnist(folder.path(), false), Contains("should hold uint8[n]"));
}

TEST_CASE("the pictures of Debian's package are read as they are", "[slow]") {
  std::error_code error;
  if (!std::filesystem::is_directory("/usr/share/datasets/fashion-mnist", error)) return;

  const data::LabelledImages test = data::load_mnist(data::fashion_mnist_folder(), false);
  CHECK(test.images.sizes() == IntSpan{10000, 28, 28});
  CHECK(test.labels.sizes() == IntSpan{10000});
  CHECK(test.labels.to_vector<std::int64_t>()[0] == 9);  // an ankle boot
}
