// einsum: an equation of names for dims, carried out as matrix products from left to right.
#include <taper/operator.h>
#include <taper/ops/matmul.h>
#include <taper/ops/view.h>

#include <algorithm>
#include <map>

namespace taper {
namespace {

/// A letter, or a dim of "..." counted from the right as a negative number.
using Label = int;
using Labels = std::vector<Label>;

struct Term {
  Tensor value;
  Labels labels;  // of its dims
};

bool has(const Labels& labels, Label l) { return std::find(labels.begin(), labels.end(), l) != labels.end(); }
std::int64_t place(const Labels& labels, Label l) {
  return std::find(labels.begin(), labels.end(), l) - labels.begin();
}

/// The text between commas as labels; "..." stands for `dots` of them.
Labels parse(const std::string& equation, std::string_view text, std::int64_t dots) {
  Labels labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      check<ValueError>(text.substr(i, 3) == "..." && text.find('.', i + 3) == std::string_view::npos, "einsum: in \"",
                        equation, "\" a point is not part of one \"...\"");
      for (std::int64_t d = dots; d > 0; --d) labels.push_back(Label(-d));
      i += 2;
      continue;
    }
    check<ValueError>((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), "einsum: in \"", equation, "\" '",
                      std::string(1, c), "' is no name for a dim; names are letters");
    labels.push_back(c);
  }
  return labels;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(',', begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

/// A letter that an operand has twice becomes one dim, the diagonal.
Term with_diagonals(Term t) {
  for (std::size_t i = 0; i < t.labels.size(); ++i)
    for (std::size_t j = i + 1; j < t.labels.size();) {
      if (t.labels[i] != t.labels[j]) {
        ++j;
        continue;
      }
      const std::int64_t a = std::int64_t(i), b = std::int64_t(j);
      check<ShapeError>(t.value.size(a) == t.value.size(b), "einsum: '", std::string(1, char(t.labels[i])),
                        "' names dims of sizes ", t.value.size(a), " and ", t.value.size(b), " of one operand");
      t.value = movedim(t.value.diagonal(0, a, b), -1, a);
      t.labels.erase(t.labels.begin() + std::ptrdiff_t(j));
    }
  return t;
}

void sum_over(Term& t, const Labels& dropped) {
  IntVec dims;
  Labels left;
  for (std::size_t d = 0; d < t.labels.size(); ++d)
    if (has(dropped, t.labels[d]))
      dims.push_back(std::int64_t(d));
    else
      left.push_back(t.labels[d]);
  if (dims.empty()) return;
  t.value = t.value.sum(dims, false, t.value.dtype());
  t.labels = left;
}
/// Drops a dim of size 1.
void drop(Term& t, Label l) {
  const std::int64_t d = place(t.labels, l);
  t.value = t.value.select(d, 0);
  t.labels.erase(t.labels.begin() + std::ptrdiff_t(d));
}
std::int64_t size_of(const Term& t, Label l) { return t.value.size(place(t.labels, l)); }

/// The dims in the order of these groups, each group as one dim.
Tensor grouped(const Term& t, std::initializer_list<const Labels*> groups) {
  IntVec order, sizes;
  for (const Labels* g : groups) {
    std::int64_t n = 1;
    for (const Label l : *g) order.push_back(place(t.labels, l)), n *= size_of(t, l);
    sizes.push_back(n);
  }
  return t.value.permute(order).reshape(sizes);
}

/// The product of two terms, summed over what they have and nobody else needs.
Term contract(Term a, Term b, const Labels& needed) {
  Labels own_a, own_b;
  for (const Label l : a.labels)
    if (!has(b.labels, l) && !has(needed, l)) own_a.push_back(l);
  for (const Label l : b.labels)
    if (!has(a.labels, l) && !has(needed, l)) own_b.push_back(l);
  sum_over(a, own_a);
  sum_over(b, own_b);
  // Where one of them has size 1, its element meets all of the other's.
  for (const Label l : Labels(a.labels)) {
    if (!has(b.labels, l) || size_of(a, l) == size_of(b, l)) continue;
    Term& narrow = size_of(a, l) == 1 ? a : b;
    Term& wide = size_of(a, l) == 1 ? b : a;
    drop(narrow, l);
    if (!has(needed, l)) sum_over(wide, {l});
  }
  Labels batch, summed, rows, columns;
  for (const Label l : a.labels) (!has(b.labels, l) ? rows : has(needed, l) ? batch : summed).push_back(l);
  for (const Label l : b.labels)
    if (!has(a.labels, l)) columns.push_back(l);
  IntVec sizes;
  Labels labels;
  const auto keep = [&](const Term& t, const Labels& group) {
    for (const Label l : group) sizes.push_back(size_of(t, l)), labels.push_back(l);
  };
  keep(a, batch);
  keep(a, rows);
  keep(b, columns);
  const Tensor product = matmul(grouped(a, {&batch, &rows, &summed}), grouped(b, {&batch, &summed, &columns}));
  return {product.reshape(sizes), labels};
}

}  // namespace

Tensor einsum(const std::string& equation, const TensorList& operands) {
  check<ValueError>(!operands.empty(), "einsum: there are no operands");
  const std::size_t arrow = equation.find("->");
  const std::string_view left = std::string_view(equation).substr(0, arrow);
  const std::vector<std::string_view> parts = split(left);
  check<ValueError>(parts.size() == operands.size(), "einsum: \"", equation, "\" is about ", parts.size(),
                    " operands, got ", operands.size());

  std::vector<Term> terms;
  std::int64_t most_dots = 0;
  std::map<Label, std::int64_t> sizes, uses;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const bool dotted = parts[k].find('.') != std::string_view::npos;
    const std::int64_t named = std::int64_t(parse(equation, parts[k], 0).size()), rank = operands[k].dim();
    check<ShapeError>(dotted ? named <= rank : named == rank, "einsum: \"", std::string(parts[k]), "\" in \"", equation,
                      "\" names ", named, " dims but operand ", k, " is ", operands[k]);
    most_dots = std::max(most_dots, rank - named);
    Term t{operands[k], parse(equation, parts[k], rank - named)};
    for (std::size_t d = 0; d < t.labels.size(); ++d) {
      ++uses[t.labels[d]];
      std::int64_t& n = sizes.emplace(t.labels[d], 1).first->second;
      const std::int64_t own = operands[k].sizes()[d];
      check<ShapeError>(n == 1 || own == 1 || n == own, "einsum: in \"", equation, "\" one name stands for sizes ", n,
                        " and ", own, "; operand ", k, " is ", operands[k]);
      if (n == 1) n = own;
    }
    terms.push_back(with_diagonals(std::move(t)));
  }

  Labels out;
  if (arrow == std::string::npos) {
    for (std::int64_t d = most_dots; d > 0; --d) out.push_back(Label(-d));
    for (const auto& [label, times] : uses)
      if (label > 0 && times == 1) out.push_back(label);
  } else {
    out = parse(equation, std::string_view(equation).substr(arrow + 2), most_dots);
    for (std::size_t i = 0; i < out.size(); ++i)
      check<ValueError>(uses.count(out[i]) && std::find(out.begin(), out.begin() + std::ptrdiff_t(i), out[i]) ==
                                                  out.begin() + std::ptrdiff_t(i),
                        "einsum: in \"", equation, "\" a name of the result occurs twice there, or in no operand");
  }

  Term all = std::move(terms[0]);
  for (std::size_t k = 1; k < terms.size(); ++k) {
    Labels needed = out;
    for (std::size_t later = k + 1; later < terms.size(); ++later)
      needed.insert(needed.end(), terms[later].labels.begin(), terms[later].labels.end());
    all = contract(std::move(all), std::move(terms[k]), needed);
  }
  Labels left_over;
  for (const Label l : all.labels)
    if (!has(out, l)) left_over.push_back(l);
  sum_over(all, left_over);
  IntVec order;
  for (const Label l : out) order.push_back(place(all.labels, l));
  return all.value.permute(order);
}

}  // namespace taper
