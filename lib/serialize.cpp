// The safetensors format: 8 bytes with the length of a JSON header, the header, then the elements of all tensors
// without holes. A reader must not trust a word of it: nothing is allocated that the file does not hold.
#include <taper/operator.h>
#include <taper/serialize.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "atomic_file.h"

namespace taper {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;  // the format's own limit
constexpr const char* kMetadataKey = "__metadata__";

struct FileDType {
  const char* name;
  DType dtype;
};
constexpr FileDType kFileDTypes[] = {{"BOOL", bool_},  {"U8", uint8},   {"I8", int8},     {"I16", int16},
                                     {"I32", int32},   {"I64", int64},  {"F16", float16}, {"BF16", bfloat16},
                                     {"F32", float32}, {"F64", float64}};
constexpr const char* kForeignDTypes[] = {"U16", "U32", "U64", "F8_E4M3", "F8_E5M2"};

const char* file_name_of(DType d) {
  for (const FileDType& f : kFileDTypes)
    if (f.dtype == d) return f.name;
  raise<NotImplementedError>("save_file: the file format has no dtype for ", d);
}

/// What the header says of one tensor.
struct Entry {
  std::string name;
  DType dtype = float32;
  IntVec shape;
  std::uint64_t begin = 0, end = 0;
};

/// Reads the header's JSON, which may be anything, straight into entries: no document is built, nothing nests.
class HeaderReader final : public nlohmann::json::json_sax_t {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}
  std::vector<Entry> entries;
  Metadata metadata;

  bool start_object(std::size_t) override {
    if (in_array_ || depth_ == 2) fail("an object where none belongs");
    if (depth_ == 1) {
      begin_member();
    }
    ++depth_;
    return true;
  }
  bool end_object() override {
    if (depth_ == 2 && !in_metadata_) finish_entry();
    --depth_;
    return true;
  }
  bool key(std::string& k) override {
    if (depth_ == 1)
      name_ = k;
    else
      field_ = k;
    return true;
  }
  bool string(std::string& value) override {
    if (depth_ != 2 || in_array_) fail("a text where none belongs");
    if (in_metadata_) {
      if (!metadata.emplace(field_, value).second) fail("a metadata key that comes twice");
      return true;
    }
    if (field_ != "dtype" || dtype_) fail("a text where none belongs");
    for (const FileDType& f : kFileDTypes)
      if (value == f.name) dtype_ = f.dtype;
    if (dtype_) return true;
    for (const char* foreign : kForeignDTypes)
      if (value == foreign)
        raise<NotImplementedError>("load_file: '", path_, "': tensor '", name_, "' has dtype ", value,
                                   ", which Taper does not have; convert it to F32 where the file was written");
    fail("an unknown dtype");
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || in_array_) fail("a list where none belongs");
    std::optional<std::vector<std::uint64_t>>* target = list_of(field_);
    if (!target || *target) fail("a list where none belongs");
    target->emplace();
    list_ = &**target;
    in_array_ = true;
    return true;
  }
  bool end_array() override {
    in_array_ = false;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!in_array_) fail("a number where none belongs");
    list_->push_back(value);
    return true;
  }
  bool number_integer(number_integer_t) override { fail("a negative number"); }
  bool number_float(number_float_t, const std::string&) override { fail("a number that is not an integer"); }
  bool null() override { fail("a null"); }
  bool boolean(bool) override { fail("a true or false"); }
  bool binary(nlohmann::json::binary_t&) override { fail("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    raise<IOError>("load_file: '", path_, "': the header is not valid JSON at byte ", position);
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    raise<IOError>("load_file: '", path_, "': the header has ", what, name_.empty() ? "" : ", at entry '", name_,
                   name_.empty() ? "" : "'");
  }
  std::optional<std::vector<std::uint64_t>>* list_of(const std::string& field) {
    if (field == "shape") return &shape_;
    if (field == "data_offsets") return &offsets_;
    return nullptr;
  }
  void begin_member() {
    in_metadata_ = name_ == kMetadataKey;
    if (in_metadata_ && std::exchange(has_metadata_, true)) fail("metadata twice");
    dtype_.reset(), shape_.reset(), offsets_.reset();
  }
  void finish_entry() {
    if (!dtype_ || !shape_ || !offsets_ || offsets_->size() != 2)
      fail("an entry without dtype, shape or two data_offsets");
    Entry e{name_, *dtype_, {}, (*offsets_)[0], (*offsets_)[1]};
    // Strides are products of sizes, so these must fit although the tensor may have no elements.
    std::int64_t extent = 1;
    bool is_empty = false;
    for (const std::uint64_t size : *shape_) {
      if (size > std::uint64_t(std::numeric_limits<std::int64_t>::max()) ||
          __builtin_mul_overflow(extent, std::max<std::int64_t>(std::int64_t(size), 1), &extent))
        fail("a shape too large for any memory");
      is_empty |= size == 0;
      e.shape.push_back(std::int64_t(size));
    }
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(extent, std::int64_t(itemsize(e.dtype)), &bytes))
      fail("a shape too large for any memory");
    if (is_empty) bytes = 0;
    if (e.end < e.begin || e.end - e.begin != std::uint64_t(bytes)) fail("data_offsets that do not fit the shape");
    entries.push_back(std::move(e));
  }

  const std::string& path_;
  std::string name_, field_;
  std::optional<DType> dtype_;
  std::optional<std::vector<std::uint64_t>> shape_, offsets_;
  std::vector<std::uint64_t>* list_ = nullptr;
  int depth_ = 0;
  bool in_metadata_ = false, has_metadata_ = false, in_array_ = false;
};

/// The header, checked against the file's size: every byte after it belongs to exactly one tensor.
HeaderReader read_header(const InputFile& file, const std::string& path, std::uint64_t& data_start) {
  check<IOError>(file.size() >= 8, "load_file: '", path, "' is not a safetensors file: it has ", file.size(), " bytes");
  std::uint64_t length = 0;
  file.read(&length, 8, 0);
  check<IOError>(length <= kMaxHeader, "load_file: '", path, "' is not a safetensors file: its header would have ",
                 length, " bytes, more than the ", kMaxHeader, " allowed");
  check<IOError>(length <= file.size() - 8, "load_file: '", path, "' is truncated: the header has ", length,
                 " bytes, the file ", file.size());
  std::string text(std::size_t(length), '\0');
  file.read(text.data(), text.size(), 8);
  check<IOError>(!text.empty() && text[0] == '{', "load_file: '", path,
                 "' is not a safetensors file: its header is no JSON object");
  data_start = 8 + length;

  HeaderReader header(path);
  nlohmann::json::sax_parse(text, &header);

  std::vector<const Entry*> by_name, by_place;
  for (const Entry& e : header.entries) by_name.push_back(&e), by_place.push_back(&e);
  std::sort(by_name.begin(), by_name.end(), [](const Entry* a, const Entry* b) { return a->name < b->name; });
  for (std::size_t i = 1; i < by_name.size(); ++i)
    check<IOError>(by_name[i - 1]->name != by_name[i]->name, "load_file: '", path, "': tensor '", by_name[i]->name,
                   "' comes twice");
  std::sort(by_place.begin(), by_place.end(),
            [](const Entry* a, const Entry* b) { return std::pair(a->begin, a->end) < std::pair(b->begin, b->end); });
  std::uint64_t place = 0;
  for (const Entry* e : by_place) {
    check<IOError>(e->begin == place, "load_file: '", path, "': tensor '", e->name, "' begins at byte ", e->begin,
                   " of the data, but what is before it ends at ", place);
    place = e->end;
  }
  check<IOError>(place == file.size() - data_start, "load_file: '", path, "' ",
                 place > file.size() - data_start ? "is truncated" : "has trailing bytes", ": the header describes ",
                 place, " bytes of data, the file has ", file.size() - data_start);
  return header;
}

void check_bools(const Tensor& t, const std::string& name, const std::string& path) {
  const auto* bytes = static_cast<const std::uint8_t*>(t.data_ptr());
  const bool fine = std::all_of(bytes, bytes + t.numel(), [](std::uint8_t b) { return b <= 1; });
  check<IOError>(fine, "load_file: '", path, "': BOOL tensor '", name, "' holds bytes other than 0 and 1");
}

}  // namespace

void save_file(const TensorDict& tensors, const std::string& path, const Metadata& metadata) {
  const NoGradGuard no_grad;
  std::vector<Tensor> rows;
  std::vector<std::size_t> order;
  for (const auto& [name, t] : tensors) {
    check<ValueError>(t.defined(), "save_file: tensor '", name, "' is undefined");
    check<ValueError>(name != kMetadataKey, "save_file: the name '", name, "' is reserved by the file format");
    check<DeviceError>(!t.device().is_meta(), "save_file: tensor '", name, "' is on meta and has no values");
    order.push_back(order.size());
    rows.push_back(t.to(cpu).contiguous());
  }
  // Wide elements first: then every tensor starts at a multiple of its element size.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows[a].element_size() > rows[b].element_size(); });
  std::vector<std::uint64_t> begin(rows.size());
  std::uint64_t place = 0;
  for (const std::size_t i : order) begin[i] = std::exchange(place, place + rows[i].nbytes());

  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  std::size_t i = 0;
  for (const auto& [name, t] : tensors) {
    header[name] = {{"dtype", file_name_of(t.dtype())},
                    {"shape", t.sizes().vec()},
                    {"data_offsets", {begin[i], begin[i] + rows[i].nbytes()}}};
    ++i;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error&) {
    raise<ValueError>("save_file: a tensor name or metadata text is not valid UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  check<ValueError>(text.size() <= kMaxHeader, "save_file: the header would have ", text.size(),
                    " bytes, more than the ", kMaxHeader, " that the file format allows");

  AtomicFile file("save_file", path);
  const std::uint64_t length = text.size();
  file.write(&length, 8);
  file.write(text.data(), text.size());
  for (const std::size_t k : order) file.write(rows[k].data_ptr(), rows[k].nbytes());
  file.commit();
}

TensorDict load_file(const std::string& path, Metadata* metadata) {
  const InputFile file("load_file", path);
  std::uint64_t data_start = 0;
  HeaderReader header = read_header(file, path, data_start);
  TensorDict out;
  for (Entry& e : header.entries) {
    Tensor t = empty(TensorSpec::contiguous(e.shape, e.dtype, cpu));
    file.read(t.impl()->data(), t.nbytes(), data_start + e.begin);
    if (e.dtype == bool_) check_bools(t, e.name, path);
    out.insert(std::move(e.name), std::move(t));
  }
  if (metadata) *metadata = std::move(header.metadata);
  return out;
}

}  // namespace taper
