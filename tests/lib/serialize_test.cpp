#include <sys/stat.h>
#include <taper/factory.h>
#include <taper/serialize.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/catch.h"
#include "support/temporary_folder.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {

void write_bytes(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A file with this header, padded as the format wants, and this many zero bytes of data.
void write_file(const std::string& path, std::string header, std::size_t data_bytes) {
  std::uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char*>(&length), 8);
  write_bytes(path, bytes + header + std::string(data_bytes, '\0'));
}

std::size_t files_in(const std::string& folder) {
  return std::size_t(std::distance(std::filesystem::directory_iterator(folder), {}));
}

}  // namespace

TEST_CASE("a dictionary of tensors keeps the order in which they were put in") {
  TensorDict d{{"b", tensor({1})}, {"a", tensor({2})}};
  d["c"] = tensor({3});

  std::string names;
  for (const auto& [name, t] : d) names += name;
  CHECK(names == "bac");
  CHECK(d.at("a").item<int>() == 2);
  CHECK(d.find("z") == nullptr);
  CHECK_THROWS_AS(d.at("z"), IndexError);
  CHECK_THROWS_AS(d.insert("a", Tensor()), ValueError);

  CHECK(d.erase("b"));
  CHECK_FALSE(d.erase("b"));
  CHECK(d.at("c").item<int>() == 3);
  CHECK(d.size() == 2);
}

TEST_CASE("tensors of every dtype and shape come back from a file as they were") {
  TemporaryFolder folder;
  const std::string path = folder / "all.safetensors";
  TensorDict out;
  out["flag"] = tensor({true, false, true});
  out["byte"] = tensor({{1, 255}, {0, 7}}, uint8);
  out["char"] = tensor({-128, 127}, int8);
  out["short"] = tensor({-32768, 5}, int16);
  out["half"] = tensor({0.1, 65504.0}, float16);
  out["brain"] = tensor({0.1, 3e38}, bfloat16);
  out["int"] = tensor({-1, 2}, int32);
  out["long"] = tensor({std::int64_t(1) << 40, std::int64_t(-5)});
  out["float"] = tensor({0.1, -2.5}, float32);
  out["double"] = tensor({0.1}, float64);
  out["number"] = full({}, 3.5);
  out["nothing"] = zeros({0, 3});
  out["turned"] = tensor({{1, 2}, {3, 4}}, float32).as_strided({2, 2}, {1, 2});

  save_file(out, path, {{"made by", "a test, \"quoted\""}});
  Metadata metadata;
  const TensorDict in = load_file(path, &metadata);

  REQUIRE(in.size() == out.size());
  auto got = in.begin();
  for (const auto& [name, t] : out) {
    INFO(name);
    CHECK(got->first == name);
    CHECK(got->second.dtype() == t.dtype());
    CHECK(got->second.sizes() == t.sizes());
    CHECK(got->second.to(float64).to_vector<double>() == t.to(float64).to_vector<double>());
    ++got;
  }
  CHECK(in.at("turned").to_vector<float>() == std::vector<float>{1, 3, 2, 4});
  CHECK(metadata == Metadata{{"made by", "a test, \"quoted\""}});
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a saved file is laid out as the format says") {
  TemporaryFolder folder;
  const std::string path = folder / "layout";
  save_file({{"b", tensor({true})}, {"x", tensor({1.0}, float64)}}, path);

  const std::string bytes = read_bytes(path);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  const std::string header = bytes.substr(8, length);
  CHECK(length % 8 == 0);
  CHECK(header.substr(0, header.find_last_not_of(' ') + 1) ==
        R"({"b":{"dtype":"BOOL","shape":[1],"data_offsets":[8,9]},)"
        R"("x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})");
  CHECK(bytes.size() == 8 + length + 9);
}

TEST_CASE("a file of another writer is read in whatever order its parts are") {
  TemporaryFolder folder;
  const std::string path = folder / "other";
  write_file(path,
             R"( )"
             R"({"x":{"data_offsets":[4,8],"shape":[1],"dtype":"F32"},"__metadata__":{"format":"pt"},)"
             R"("y":{"dtype":"I32","shape":[],"data_offsets":[0,4]}})",
             8);
  CHECK_THROWS_WITH(load_file(path), Contains("no JSON object"));  // the header must begin with a brace

  write_file(path,
             R"({"x":{"data_offsets":[4,8],"shape":[1],"dtype":"F32"},"__metadata__":{"format":"pt"},)"
             R"("y":{"dtype":"I32","shape":[],"data_offsets":[0,4]}}   )",
             8);
  Metadata metadata;
  const TensorDict d = load_file(path, &metadata);
  CHECK(d.at("x").sizes() == IntSpan{1});
  CHECK(d.at("y").dim() == 0);
  CHECK(metadata.at("format") == "pt");
}

TEST_CASE("hostile headers are refused with a reason", "[B74]") {
  TemporaryFolder folder;
  const std::string path = folder / "hostile";
  const auto refuses = [&](const std::string& header, std::size_t data_bytes, const char* reason) {
    INFO(header);
    write_file(path, header, data_bytes);
    CHECK_THROWS_AS(load_file(path), IOError);
    CHECK_THROWS_WITH(load_file(path), Contains(reason));
  };
  const std::string x = R"("x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";

  refuses("", 0, "no JSON object");
  refuses("[]", 0, "no JSON object");
  refuses("{", 0, "not valid JSON");
  refuses("{" + x + "}x", 4, "not valid JSON");
  refuses(std::string(100'000, '{'), 0, "not valid JSON");
  refuses("{\"x\":" + std::string(100'000, '['), 0, "a list where none belongs");
  refuses(R"({"x":{"x":{}}})", 0, "an object where none belongs");
  refuses(R"({"x":1})", 0, "a number where none belongs");
  refuses(R"({"x":null})", 0, "a null");
  refuses(R"({"x":true})", 0, "true or false");
  refuses("{\"\xff\":{}}", 0, "not valid JSON");
  refuses("{" + x + "," + x + "}", 8, "comes twice");
  refuses("{" + x + "," + x + "}", 4, "comes twice");
  refuses(R"({"x":{"dtype":"F32","shape":[1]}})", 4, "without dtype, shape or two data_offsets");
  refuses(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "without dtype, shape or two data_offsets");
  refuses(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"dtype":"I32"}})", 4, "a text where none belongs");
  refuses(R"({"x":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})", 4, "an unknown dtype");
  refuses(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "a negative number");
  refuses(R"({"x":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, "not an integer");
  refuses(R"({"x":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}})", 4, "not an integer");
  refuses(R"({"x":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]}})", 4, "too large");
  refuses(R"({"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, "too large");
  refuses(R"({"x":{"dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}})", 0, "too large");
  refuses(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "do not fit the shape");
  refuses(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "do not fit the shape");
  refuses(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "begins at byte 4");
  refuses(
      R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"y":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
      8, "begins at byte 4");
  refuses("{" + x + "}", 3, "is truncated");
  refuses("{" + x + "}", 5, "trailing bytes");
  refuses(R"({"__metadata__":{"a":1}})", 0, "a number where none belongs");
  refuses(R"({"__metadata__":{"a":"1","a":"2"}})", 0, "a metadata key that comes twice");
  refuses(R"({"__metadata__":{},"__metadata__":{}})", 0, "metadata twice");

  write_file(path, R"({"x":{"dtype":"U16","shape":[1],"data_offsets":[0,2]}})", 2);
  CHECK_THROWS_AS(load_file(path), NotImplementedError);

  write_bytes(path, "short");
  CHECK_THROWS_WITH(load_file(path), Contains("it has 5 bytes"));
  write_bytes(path, std::string(8, '\xff'));
  CHECK_THROWS_WITH(load_file(path), Contains("more than the 100000000 allowed"));
  write_bytes(path, std::string("\x40\0\0\0\0\0\0\0{}", 10));
  CHECK_THROWS_WITH(load_file(path), Contains("is truncated"));
  CHECK_THROWS_WITH(load_file(folder / "absent"), Contains("No such file"));
  CHECK_THROWS_WITH(load_file(folder.path()), Contains("not a regular file"));
}

TEST_CASE("bytes that are neither true nor false are no booleans") {
  TemporaryFolder folder;
  const std::string path = folder / "bools", header = R"({"b":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})";
  const std::uint64_t length = header.size();
  write_bytes(path, std::string(reinterpret_cast<const char*>(&length), 8) + header + '\2');

  CHECK_THROWS_WITH(load_file(path), Contains("bytes other than 0 and 1"));
}

TEST_CASE("a file that cannot be written whole leaves the old one and no trace", "[B74]") {
  TemporaryFolder folder;
  const std::string path = folder / "model";
  save_file({{"x", tensor({1, 2})}}, path);
  const std::string before = read_bytes(path);

  CHECK_THROWS_AS(save_file({{"x", Tensor()}}, path), ValueError);
  CHECK_THROWS_AS(save_file({{"__metadata__", tensor({1})}}, path), ValueError);
  CHECK_THROWS_AS(save_file({{"\xff", tensor({1})}}, path), ValueError);
  CHECK_THROWS_AS(save_file({{"x", tensor({1})}}, path, {{"key", "\xff"}}), ValueError);
  CHECK_THROWS_AS(save_file({{"x", empty({2}, float32, meta)}}, path), DeviceError);
  CHECK_THROWS_AS(save_file({{"x", tensor({1})}}, folder / "no such folder/x"), IOError);
  std::filesystem::create_directory(folder / "folder");
  std::filesystem::create_directory(folder / "folder/inside");
  CHECK_THROWS_AS(save_file({{"x", tensor({1})}}, folder / "folder"), IOError);

  CHECK(read_bytes(path) == before);
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("saving through a symbolic link writes the file that it points to") {
  TemporaryFolder folder;
  save_file({{"x", tensor({1})}}, folder / "target");
  std::filesystem::create_symlink("target", folder / "link");

  save_file({{"x", tensor({2})}}, folder / "link");

  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(load_file(folder / "target").at("x").item<int>() == 2);

  // Over several links, relative to where each is, to a file that is not there yet.
  std::filesystem::create_directory(folder / "runs");
  std::filesystem::create_symlink("../latest", folder / "runs/a");
  std::filesystem::create_symlink("runs/../b", folder / "latest");
  std::filesystem::create_symlink(folder / "new", folder / "b");
  save_file({{"x", tensor({3})}}, folder / "runs/a");
  for (const char* link : {"runs/a", "latest", "b"}) CHECK(std::filesystem::is_symlink(folder / link));
  CHECK_FALSE(std::filesystem::is_symlink(folder / "new"));
  CHECK(load_file(folder / "new").at("x").item<int>() == 3);

  std::filesystem::create_symlink("ring", folder / "ring");
  CHECK_THROWS_WITH(save_file({{"x", tensor({3})}}, folder / "ring"), Contains("leads to itself"));
}

TEST_CASE("a file that is saved again keeps its permissions") {
  using std::filesystem::perms;
  TemporaryFolder folder;
  const std::string path = folder / "model";
  for (const perms mode : {perms::owner_read | perms::owner_write, perms(0640), perms(0400), perms(0777)}) {
    save_file({{"x", tensor({1})}}, path);
    std::filesystem::permissions(path, mode);
    save_file({{"x", tensor({2})}}, path);
    CHECK(std::filesystem::status(path).permissions() == mode);
    std::filesystem::permissions(path, perms(0600));
    CHECK(load_file(path).at("x").item<int>() == 2);
  }
  std::filesystem::create_symlink("model", folder / "link");
  save_file({{"x", tensor({3})}}, folder / "link");
  CHECK(std::filesystem::status(path).permissions() == perms(0600));
}

TEST_CASE("what is no regular file is not replaced by one") {
  TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::filesystem::create_symlink("pipe", folder / "link");
  for (const char* name : {"pipe", "link"})
    CHECK_THROWS_WITH(save_file({{"x", tensor({1})}}, folder / name), Contains("is not a regular file"));
  CHECK(std::filesystem::is_fifo(folder / "pipe"));
  CHECK(files_in(folder.path()) == 2);
}
