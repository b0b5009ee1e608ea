// Pictures and numbers of a graph.
#include <taper/taper.h>

#include <algorithm>

#include "diagnostics/graph_layout.h"
#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

Tensor leaf(std::initializer_list<TensorData> v) { return tensor(v, {.dtype = float64, .requires_grad = true}); }

/// Layers with a residual connection each, one weight shared by all.
Tensor deep_net(int layers) {
  Tensor shared = ones({4, 4}, {.requires_grad = true});
  Tensor h = ones({2, 4}, {.requires_grad = true});
  for (int i = 0; i < layers; ++i) h = h + relu(matmul(h, shared)) * ones({4}, {.requires_grad = true});
  return h.sum();
}

void check_geometry(const GraphLayout& layout) {
  for (const GraphLayout::Box& b : layout.boxes) {
    CHECK(b.x >= 0);
    CHECK(b.y >= 0);
    CHECK(b.x + b.width <= layout.width);
    CHECK(b.y + b.height <= layout.height);
    for (const std::string& line : b.lines)
      CHECK(double(line.size()) * GraphLayout::kCharacter + 2 * GraphLayout::kPadding <= b.width);
    CHECK(double(b.lines.size()) * GraphLayout::kLine + 2 * GraphLayout::kPadding <= b.height);
  }
  double left = layout.width, top = layout.height;
  for (const GraphLayout::Box& b : layout.boxes) left = std::min(left, b.x), top = std::min(top, b.y);
  CHECK(left < 200);  // no empty margin, but for edges
  CHECK(top == 0);
  int overlaps = 0;
  for (std::size_t i = 0; i < layout.boxes.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const GraphLayout::Box &a = layout.boxes[i], &b = layout.boxes[k];
      overlaps += a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
    }
  CHECK(overlaps == 0);
  for (const GraphLayout::Curve& c : layout.curves) {
    CHECK(layout.boxes[c.from].y < layout.boxes[c.to].y);  // gradients go down
    for (const auto& [x, y] : c.points) {
      const bool inside_another = std::any_of(layout.boxes.begin(), layout.boxes.end(), [&](const auto& b) {
        return x > b.x && x < b.x + b.width && y > b.y && y < b.y + b.height;
      });
      CHECK_FALSE(inside_another);
    }
  }
}

}  // namespace

TEST_CASE("to_dot shows operators in backward order, shapes and what is saved") {
  Tensor x = leaf({1, 2, 3}), w = leaf({4, 5, 6});
  const std::string dot = to_dot((exp(x) * w).sum(), {{"weight", w}});
  CHECK(dot ==
        "digraph taper {\n"
        "  node [shape=box, fontname=\"monospace\"];\n"
        "  n0 [label=\"0 sum\\nfloat64[]\"];\n"
        "  n1 [label=\"1 mul\\nfloat64[3]\\nsaved self float64[3] 24 B\\nsaved other float64[3] 24 B\"];\n"
        "  n2 [label=\"2 weight\\nfloat64[3]\", style=filled, fillcolor=\"#d9f2d9\"];\n"
        "  n3 [label=\"3 exp\\nfloat64[3]\\nsaved result float64[3] 24 B\"];\n"
        "  n4 [label=\"4 leaf\\nfloat64[3]\", style=filled, fillcolor=\"#d9f2d9\"];\n"
        "  n0 -> n1;\n"
        "  n1 -> n3;\n"
        "  n1 -> n2;\n"
        "  n3 -> n4;\n"
        "}\n");
}

TEST_CASE("a write through a view shows that it is one, the view, and what the writer saved") {
  Tensor x = leaf({1, 2, 3, 4}), w = leaf({5, 6});
  Tensor y = x * 1;
  y.slice(0, 0, 2).mul_(w);
  const std::string dot = to_dot(y.sum());
  CHECK(contains(dot, "1 mul into a view\\nfloat64[4]\\nwrote float64[2]\\nsaved self float64[2]"));
}

TEST_CASE("what hooks packed is shown with the size of what they keep, if they keep tensors") {
  {
    const autograd::SavedTensorHooks hooks([](const Tensor& t) { return t.to(float32); },
                                           [](const Tensor& t) { return t.to(float64); });
    CHECK(contains(to_dot(exp(leaf({1, 2})).sum()), "1 exp\\nfloat64[2]\\npacked result float64[2] 8 B\""));
  }
  const autograd::SavedTensorHooks hooks(
      [](const Tensor& t) { return t.to_vector<double>(); },
      [](const std::vector<double>& v) { return from_vector(std::vector<double>(v)); });
  const Tensor y = exp(leaf({1, 2})).sum();
  CHECK(contains(to_dot(y), "1 exp\\nfloat64[2]\\npacked result float64[2] in a form of its own\""));
  std::string table;
  append_to(table, graph_stats(y));
  CHECK(contains(table, "not counted: 1 tensors that saved-tensor hooks keep in a form of their own\n"));
  CHECK(contains(graph_html(y), "Not counted: 1 tensors"));
}

TEST_CASE("a tensor without a graph is refused by name") {
  const Tensor plain = ones({2});
  CHECK(contains(message_of<AutogradError>([&] { to_dot(plain); }),
                 "to_dot: the tensor (float32[2] on cpu) has no graph"));
  CHECK(contains(message_of<AutogradError>([&] { graph_html(plain); }), "graph_html: "));
  CHECK(contains(message_of<AutogradError>([&] { graph_stats(plain); }), "graph_stats: "));
}

TEST_CASE("graph_stats counts nodes and bytes by operator, each block once, leaves apart", "[S106][S157]") {
  Tensor x = zeros({1000}, {.dtype = float64, .requires_grad = true});
  Tensor w = ones({1000}, {.dtype = float64, .requires_grad = true});
  Tensor e = exp(x);
  const GraphStats stats = graph_stats((e * w + sigmoid(e)).sum());
  CHECK(stats.nodes == 7);
  CHECK(stats.saved_bytes == 16000);  // e, which exp and mul keep, and the result of sigmoid
  CHECK(stats.leaf_bytes == 8000);
  CHECK(stats.by_op[0].name == "mul");  // before exp in the order of backward
  CHECK(stats.by_op[0].saved_bytes == 8000);
  const auto mul =
      std::find_if(stats.by_op.begin(), stats.by_op.end(), [](const auto& op) { return op.name == "mul"; });
  CHECK(mul->saved_tensors == 2);
  CHECK(mul->saved_bytes == 8000);
  std::string table;
  append_to(table, stats);
  CHECK(contains(table, "sigmoid                        1       1            8000\n"));
  CHECK(contains(table, "all                            7                   16000\n"));
}

TEST_CASE("a small view that is saved counts the whole block it keeps", "[S157]") {
  Tensor x = leaf({1, 2});
  Tensor big = ones({1000}, float64);
  CHECK(graph_stats((x * big.slice(0, 0, 2)).sum()).saved_bytes == 8000);
  CHECK(graph_stats((x * big.slice(0, 0, 2).clone()).sum()).saved_bytes == 16);
}

TEST_CASE("boxes do not overlap, text is within them, and no edge crosses one, at 200 nodes") {
  const Tensor t = deep_net(40);
  const Graph graph = graph_behind(t, "test");
  CHECK(graph.nodes.size() == 203);
  check_geometry(lay_out(graph, {}));
}

TEST_CASE("wide graphs and single nodes are laid out too") {
  Tensor x = leaf({1, 2, 3});
  TensorList parts;
  for (int i = 0; i < 50; ++i) parts.push_back(i % 2 ? exp(x) : x * x);
  check_geometry(lay_out(graph_behind(cat(parts).sum(), "test"), {}));
  check_geometry(lay_out(graph_behind(x, "test"), {}));
}

TEST_CASE("a chain of 100000 nodes has a picture in time") {
  Tensor x = leaf({1});
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = y + x;
  CHECK(graph_stats(y).nodes == 100001);
  CHECK(lay_out(graph_behind(y, "test"), {}).boxes.size() == 100001);
}

TEST_CASE("graph_html stands alone and shows every node") {
  const std::string page = graph_html(deep_net(40), {});
  CHECK(page.starts_with("<!DOCTYPE html>"));
  for (const char* outside : {"src=", "href=", "@import", "url(http"}) CHECK_FALSE(contains(page, outside));
  std::size_t nodes = 0;
  for (std::size_t at = page.find("<g class=\"node"); at != page.npos; at = page.find("<g class=\"node", at + 1))
    ++nodes;
  CHECK(nodes == 203);
  CHECK(contains(page, ">saved self float32[2, 4] 32 B</text>"));
  CHECK(contains(graph_html(leaf({1}) * 2, {{"a<b", leaf({1})}}), "</html>"));
}
