#include "archive.h"

#include <zlib.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace oracle {
namespace {

/// The bytes of a file, decompressed if it is compressed.
std::string read_file(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) throw std::runtime_error("cannot open " + path.string());
  std::string bytes;
  char buffer[1 << 16];
  int n = 0;
  while ((n = gzread(file, buffer, sizeof buffer)) > 0) bytes.append(buffer, std::size_t(n));
  const bool ok = n == 0;
  gzclose(file);
  if (!ok) throw std::runtime_error("cannot read " + path.string());
  return bytes;
}

double half_to_double(std::uint16_t h) {
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  const double magnitude =
      exponent == 0    ? std::ldexp(mantissa, -24)
      : exponent == 31 ? (mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity())
                       : std::ldexp(1024 + mantissa, exponent - 25);
  return h & 0x8000 ? -magnitude : magnitude;
}

template <class T>
T at(const std::string& data, std::size_t offset) {
  T v;
  std::memcpy(&v, data.data() + offset, sizeof v);
  return v;
}

bool is_floating_name(const std::string& dtype) { return dtype.find("float") != std::string::npos; }

double real(const Json& v) {
  if (v.is_boolean()) return v.get<bool>();
  if (v.is_number()) return v.get<double>();
  const std::string name = v.at("float").get<std::string>();
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return name == "-inf" ? -infinity : infinity;
}

std::filesystem::path plain_or_compressed(std::filesystem::path path) {
  if (!std::filesystem::exists(path)) path += ".gz";
  return path;
}

}  // namespace

std::vector<Family> find_families(const std::filesystem::path& folder) {
  std::map<std::string, Family> found;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::filesystem::path name = file.path().filename();
    if (name.extension() == ".gz") name = name.stem();
    if (name.extension() != ".jsonl") continue;
    const std::string family = name.stem().string();
    found[family] = {family, plain_or_compressed(folder / (family + ".jsonl")),
                     plain_or_compressed(folder / (family + ".safetensors"))};
  }
  if (found.empty()) throw std::runtime_error("no *.jsonl or *.jsonl.gz in " + folder.string());
  std::vector<Family> families;
  for (auto& [name, family] : found) families.push_back(std::move(family));
  return families;
}

std::vector<Json> read_cases(const Family& family) {
  const std::string text = read_file(family.cases);
  std::vector<Json> cases;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin)
      cases.push_back(Json::parse(text.begin() + std::ptrdiff_t(begin), text.begin() + std::ptrdiff_t(end)));
    begin = end + 1;
  }
  return cases;
}

Archive::Archive(const std::filesystem::path& file) {
  const std::string bytes = read_file(file);
  if (bytes.size() < 8) throw std::runtime_error(file.string() + " is too short for a safetensors file");
  const auto header_size = at<std::uint64_t>(bytes, 0);
  if (header_size > bytes.size() - 8) throw std::runtime_error(file.string() + " ends within its header");
  const Json header = Json::parse(bytes.begin() + 8, bytes.begin() + 8 + std::ptrdiff_t(header_size));
  data_ = bytes.substr(8 + header_size);
  for (const auto& [name, entry] : header.items()) {
    const auto& offsets = entry.at("data_offsets");
    Entry e{entry.at("dtype").get<std::string>(), entry.at("shape").get<IntVec>(), offsets[0].get<std::size_t>(),
            offsets[1].get<std::size_t>()};
    if (e.begin > e.end || e.end > data_.size())
      throw std::runtime_error(file.string() + ": tensor " + name + " lies outside the file");
    entries_[name] = std::move(e);
  }
}

Array Archive::stored(const std::string& name) const {
  const Entry& e = entries_.at(name);
  Array a{.dtype = e.dtype, .shape = e.shape};
  const auto fill = [&]<class Stored>(auto& out, Stored, auto convert) {
    for (std::size_t p = e.begin; p < e.end; p += sizeof(Stored)) out.push_back(convert(at<Stored>(data_, p)));
  };
  const auto as_real = [](auto v) { return double(v); };
  const auto as_integer = [](auto v) { return std::int64_t(v); };
  a.floating = e.dtype[0] == 'F' || e.dtype == "BF16";
  if (e.dtype == "F64")
    fill(a.reals, double(), as_real);
  else if (e.dtype == "F32")
    fill(a.reals, float(), as_real);
  else if (e.dtype == "F16")
    fill(a.reals, std::uint16_t(), half_to_double);
  else if (e.dtype == "BF16")
    fill(a.reals, std::uint16_t(),
         [](std::uint16_t v) { return double(std::bit_cast<float>(std::uint32_t(v) << 16)); });
  else if (e.dtype == "I64")
    fill(a.integers, std::int64_t(), as_integer);
  else if (e.dtype == "I32")
    fill(a.integers, std::int32_t(), as_integer);
  else if (e.dtype == "I16")
    fill(a.integers, std::int16_t(), as_integer);
  else if (e.dtype == "I8")
    fill(a.integers, std::int8_t(), as_integer);
  else if (e.dtype == "U8" || e.dtype == "BOOL")
    fill(a.integers, std::uint8_t(), as_integer);
  else
    throw Skip{"dtype " + e.dtype};
  return a;
}

Array Archive::array(const Json& spec) const {
  Array a;
  if (spec.contains("tensor")) {
    a = stored(spec.at("tensor").get<std::string>());
  } else {
    a.floating = is_floating_name(spec.at("dtype").get<std::string>());
    for (const Json& v : spec.at("data"))
      if (a.floating)
        a.reals.push_back(real(v));
      else
        a.integers.push_back(v.is_boolean() ? v.get<bool>() : v.get<std::int64_t>());
    a.shape = spec.at("shape").get<IntVec>();
  }
  a.dtype = spec.at("dtype").get<std::string>();
  if (a.floating != is_floating_name(a.dtype)) {  // stored as the other kind
    if (a.floating)
      a.integers.assign(a.reals.begin(), a.reals.end());
    else
      a.reals.assign(a.integers.begin(), a.integers.end());
    a.floating = !a.floating;
  }
  if (!spec.contains("stride")) a.shape = spec.at("shape").get<IntVec>();
  return a;
}

}  // namespace oracle
