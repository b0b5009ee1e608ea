#include "decode.h"

#include <limits>

namespace oracle {

Tolerance tolerance(const Json& pair) { return {pair.at(0).get<double>(), pair.at(1).get<double>()}; }

double number(const Json& j) {
  if (!j.is_object()) return j.get<double>();
  const std::string name = j.at("float").get<std::string>();
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return name == "-inf" ? -infinity : infinity;
}

Tensor Decoder::tensor(const Json& spec, const std::string& path) {
  Tensor t = make_tensor(archive_.array(spec));
  if (spec.contains("stride")) {
    const IntVec shape = spec.at("shape").get<IntVec>(), stride = spec.at("stride").get<IntVec>();
    t = t.as_strided(shape, stride, spec.value("offset", std::int64_t(0))).detach();
  }
  tensors.push_back({path, t});
  if (spec.value("requires_grad", false)) {
    t.requires_grad_();
    leaves.push_back({path, t});
  }
  return t;
}

Value Decoder::value(const Json& j, const std::string& path) {
  if (j.is_null()) return {None{}};
  if (j.is_boolean()) return {j.get<bool>()};
  if (j.is_number_float()) return {j.get<double>()};
  if (j.is_number()) return {j.get<std::int64_t>()};
  if (j.is_string()) return {j.get<std::string>()};
  if (j.is_array()) {
    List list;
    for (std::size_t i = 0; i < j.size(); ++i) list.push_back(value(j[i], path + "." + std::to_string(i)));
    return {std::move(list)};
  }
  if (j.contains("var")) return variable(j.at("var").get<std::string>());
  if (j.contains("float")) return {number(j)};
  if (j.contains("ellipsis")) return {Ellipsis{}};
  if (j.contains("slice")) {
    const Json& s = j.at("slice");
    const auto part = [&](std::size_t i) {
      return s.at(i).is_null() ? std::optional<std::int64_t>() : s.at(i).get<std::int64_t>();
    };
    return {SliceValue{part(0), part(1), part(2)}};
  }
  if (j.contains("shape")) return {tensor(j, path)};
  return {dtype_named(j.at("dtype").get<std::string>())};
}

Args Decoder::args(const std::string& op, const Json& j) {
  Args args(op);
  for (const auto& [name, v] : j.items()) args.set(name, value(v, name));
  return args;
}

}  // namespace oracle
