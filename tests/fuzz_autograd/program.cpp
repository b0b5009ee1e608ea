#include "program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fuzz {
namespace {

std::string name(int v) { return fmt::format("v{}", v); }
std::string braced(const Ints& v) { return fmt::format("{{{}}}", fmt::join(v, ", ")); }
std::string braced(const std::vector<double>& v) { return fmt::format("{{{}}}", fmt::join(v, ", ")); }

std::string mask(const Ints& v) {
  std::string s = "mask(";
  for (const std::int64_t i : v) s += i ? 'T' : 'F';
  return s + ')';
}

std::string indices(const std::vector<IndexEntry>& entries) {
  std::string s = "{";
  for (const IndexEntry& e : entries) {
    if (s.size() > 1) s += ", ";
    switch (e.kind) {
      case IndexEntry::Kind::integer:
        s += std::to_string(e.ints[0]);
        break;
      case IndexEntry::Kind::slice:
        s += fmt::format("Slice({}, {}, {})", e.ints[0], e.ints[1], e.ints[2]);
        break;
      case IndexEntry::Kind::list:
        s += "list" + braced(e.ints);
        break;
      case IndexEntry::Kind::mask:
        s += mask(e.ints);
    }
  }
  return s + '}';
}

}  // namespace

std::string to_string(const Step& s) {
  std::vector<std::string> in, out;
  for (const int v : s.in) in.push_back(name(v));
  for (const int v : s.out) out.push_back(name(v));
  const std::string self = in.empty() ? "" : in[0], to = fmt::format("{} = ", fmt::join(out, ", "));
  const std::string number = s.numbers.empty() ? "" : fmt::format("{}", s.numbers[0]);
  const std::string ints = fmt::format("{}", fmt::join(s.ints, ", "));
  const std::string value = in.size() > 1 ? in[1] : number;
  const auto options = [&] { return fmt::format("retain_graph={}, create_graph={}", s.flag, s.flag2); };
  const auto rest = [&] { return in.empty() ? "" : fmt::format("{}", fmt::join(in.begin() + 1, in.end(), ", ")); };
  switch (s.what) {
    case Do::leaf:
      return fmt::format("{}tensor({}, {}){}", to, braced(s.numbers), braced(s.sizes),
                         s.flag ? ".requires_grad_()" : "");
    case Do::unary:
      return fmt::format("{}{}.{}({})", to, self, s.op, fmt::join(s.numbers, ", "));
    case Do::binary:
      return fmt::format("{}{}.{}({})", to, self, s.op, in[1]);
    case Do::clone:
      return to + self + ".clone()";
    case Do::sum:
      return to + self + ".sum()";
    case Do::sum_dim:
      return fmt::format("{}{}.sum({{{}}})", to, self, ints);
    case Do::mean_dim:
      return fmt::format("{}{}.mean({{{}}})", to, self, ints);
    case Do::matmul:
      return fmt::format("{}{}.matmul({})", to, self, in[1]);
    case Do::cat:
      return fmt::format("{}cat({{{}, {}}}, {})", to, in[0], in[1], ints);
    case Do::where:
      return fmt::format("{}where({}, {}, {})", to, mask(s.ints), in[0], in[1]);
    case Do::take:
      return fmt::format("{}{}.index({{list{}}})", to, self, braced(s.ints));
    case Do::function:
      return fmt::format("{}function<{}>({}{}{})", to, s.op, self, s.numbers.empty() ? "" : ", ", number);
    case Do::unary_:
      return fmt::format("{}.{}_({})", self, s.op, fmt::join(s.numbers, ", "));
    case Do::binary_:
      return fmt::format("{}.{}_({})", self, s.op, in[1]);
    case Do::copy_:
      return fmt::format("{}.copy_({})", self, in[1]);
    case Do::fill_:
    case Do::fill_tensor_:
      return fmt::format("{}.fill_({})", self, value);
    case Do::zero_:
      return self + ".zero_()";
    case Do::reshape_:
      return fmt::format("{}.{}_({})", self, s.op, ints);
    case Do::assign:
      return fmt::format("{}.index_put_({}, {})", self, indices(s.entries), value);
    case Do::masked_fill_:
      return fmt::format("{}.masked_fill_({}, {})", self, mask(s.ints), value);
    case Do::view_select:
      return fmt::format("{}{}.select({})", to, self, ints);
    case Do::view_slice:
      return fmt::format("{}{}.slice({})", to, self, ints);
    case Do::view_transpose:
      return fmt::format("{}{}.transpose({})", to, self, ints);
    case Do::view_diagonal:
      return fmt::format("{}{}.diagonal({})", to, self, ints);
    case Do::view_strided:
      return fmt::format("{}{}.as_strided({}, {}, {})", to, self, braced(s.sizes), braced(s.strides), ints);
    case Do::view_expand:
      return fmt::format("{}{}.expand({})", to, self, braced(s.sizes));
    case Do::view_unsqueeze:
      return fmt::format("{}{}.unsqueeze({})", to, self, ints);
    case Do::view_squeeze:
      return fmt::format("{}{}.squeeze({})", to, self, ints);
    case Do::view_reshape:
      return fmt::format("{}{}.view({})", to, self, braced(s.sizes));
    case Do::view_unfold:
      return fmt::format("{}{}.unfold({})", to, self, ints);
    case Do::unbind:
      return fmt::format("{}{}.unbind({})", to, self, ints);
    case Do::split:
      return fmt::format("{}{}.split({})", to, self, ints);
    case Do::chunk:
      return fmt::format("{}{}.chunk({})", to, self, ints);
    case Do::detach:
      return to + self + ".detach()";
    case Do::detach_:
      return self + ".detach_()";
    case Do::requires_grad_:
      return fmt::format("{}.requires_grad_({})", self, s.flag);
    case Do::set_data:
      return fmt::format("{}.set_data({})", self, in[1]);
    case Do::retain_grad:
      return self + ".retain_grad()";
    case Do::grad_of:
      return to + self + ".grad()";
    case Do::zero_grad:
      return self + ".zero_grad()";
    case Do::no_grad:
      return "{ NoGradGuard";
    case Do::inference:
      return "{ InferenceMode";
    case Do::end:
      return "}";
    case Do::backward:
      return fmt::format("{}.backward({}, {}, inputs={{{}}})", self, braced(s.numbers), options(), rest());
    case Do::grad:
      return fmt::format("{}grad({{{}}}, {{{}}}, {}, {})", to, self, rest(), braced(s.numbers), options());
  }
  return "?";
}

std::string to_string(const Program& p) {
  std::string text, indent = "  ";
  for (const Step& s : p) {
    if (s.what == Do::end && indent.size() > 2) indent.resize(indent.size() - 2);
    text += indent + to_string(s) + '\n';
    if (s.what == Do::no_grad || s.what == Do::inference) indent += "  ";
  }
  return text;
}

std::string reasons(unsigned refusals) {
  static constexpr const char* names[] = {"a destination that overlaps itself",
                                          "a leaf",
                                          "a view made without recording",
                                          "one of several results",
                                          "a conflict",
                                          "freed values",
                                          "no history",
                                          "not a leaf",
                                          "a view",
                                          "a leaf that became a result",
                                          "a reshaped leaf",
                                          "frozen metadata",
                                          "an inference tensor",
                                          "a view that reaches outside",
                                          "memory of another tensor",
                                          "a secret write",
                                          "another error"};
  std::string s;
  for (unsigned i = 0; i < std::size(names); ++i)
    if (refusals >> i & 1) s += (s.empty() ? "" : " or ") + std::string(names[i]);
  return s.empty() ? "no error" : s;
}

}  // namespace fuzz
