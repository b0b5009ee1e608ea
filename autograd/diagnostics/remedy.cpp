#include "remedy.h"

#include <taper/operator.h>

#include <string_view>

namespace taper {
namespace {

/// Operators whose name without the underscore is no operator.
constexpr struct {
  std::string_view writer, instead;
} kWithoutOtherForm[] = {
    {"copy_", "assign a new tensor, x = src.clone()"},  {"fill_", "make a new tensor with full_like()"},
    {"zero_", "make a new tensor with zeros_like()"},   {"normal_", "make a new tensor with randn_like()"},
    {"uniform_", "make a new tensor with rand_like()"}, {"exponential_", "make a new tensor with empty_like()"},
    {"random_", "make a new tensor with empty_like()"},
};

bool is_operator(std::string_view name) {
  for (const OpEntry* e = OpEntry::first(); e; e = e->next())
    if (name == e->name()) return true;
  return false;
}

}  // namespace

std::string remedy_for(const char* writer, bool of_leaf) {
  const std::string_view name = writer ? writer : "";
  if (name.ends_with("_step_"))
    return "call backward() before the optimizer's step(), or compute the loss again after it";
  if (of_leaf) return "call backward() before the leaf is updated, or compute the result again after it";
  if (name == "batch_norm")
    return "call backward() before batch_norm() updates its running statistics again, or clone() them first";
  if (name == "mutable_data") return "write before the forward pass, or to a clone()";
  for (const auto& [without, instead] : kWithoutOtherForm)
    if (name == without) return std::string(instead) + ", or clone() before writing";
  if (name.ends_with('_')) return "use the form without the underscore, or clone() before writing";
  if (is_operator(name)) return "give " + std::string(name) + "() another `out`, or clone() before writing";
  return "clone() before writing";
}

}  // namespace taper
