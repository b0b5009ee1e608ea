#include <taper/device.h>
#include <taper/error.h>

#include <charconv>

namespace taper {

Device::Device(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  if (kind == "cpu")
    type = DeviceType::CPU;
  else if (kind == "cuda")
    type = DeviceType::CUDA;
  else if (kind == "meta")
    type = DeviceType::Meta;
  else if (kind == "extension")
    type = DeviceType::Extension;
  else
    raise<DeviceError>("Device: '", text, "' names no device; expected cpu, cuda, cuda:N, meta or extension");
  if (colon == std::string_view::npos) return;

  int number = -1;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  check<DeviceError>(error == std::errc{} && end == digits.data() + digits.size() && number >= 0 && number < 128,
                     "Device: '", text, "' has no device number after the colon; expected for example cuda:0");
  check<DeviceError>(type == DeviceType::CUDA || number == 0, "Device: '", text, "': there is only one ", kind);
  index = std::int8_t(number);
}

std::string Device::str() const {
  switch (type) {
    case DeviceType::CPU:
      return "cpu";
    case DeviceType::CUDA:
      return "cuda:" + std::to_string(index);
    case DeviceType::Meta:
      return "meta";
    default:
      return "extension";
  }
}

void append_to(std::string& s, Device d) { s += d.str(); }

void append_to(std::string& s, DispatchKey k) {
  static constexpr const char* kNames[] = {"CPU", "CUDA", "Meta", "Extension", "Autocast", "Autograd", "Watch"};
  s += kNames[unsigned(k)];
}

void append_to(std::string& s, DispatchKeySet k) {
  s += '{';
  bool first = true;
  for (unsigned i = 0; i <= unsigned(DispatchKey::Watch); ++i) {
    if (!k.has(DispatchKey(i))) continue;
    if (!first) s += ", ";
    append_to(s, DispatchKey(i));
    first = false;
  }
  s += '}';
}

}  // namespace taper
