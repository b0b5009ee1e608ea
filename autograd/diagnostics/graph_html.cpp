// The graph as a page of its own: an SVG, and a few lines of script that move it.
#include <fmt/format.h>
#include <taper/autograd/graph_view.h>

#include "graph_layout.h"

namespace taper {
namespace {

constexpr const char* kStyle = R"(
body { margin: 0; font: 13px sans-serif; display: flex; height: 100vh; }
#side { width: 300px; padding: 12px; overflow: auto; border-right: 1px solid #ccc; box-sizing: border-box; }
#side table { border-collapse: collapse; width: 100%; }
#side td, #side th { text-align: right; padding: 2px 4px; white-space: nowrap; } #side td:first-child, #side th:first-child { text-align: left; }
#find { width: 100%; box-sizing: border-box; margin: 8px 0; }
svg { flex: 1; cursor: grab; background: #fafafa; }
text { font: 12px "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre; }
.node rect { fill: #fff; stroke: #555; } .leaf rect { fill: #d9f2d9; } .saves rect { fill: #fdf1d0; }
.node text:first-of-type { font-weight: bold; } .node { cursor: pointer; }
path { fill: none; stroke: #888; }
.faint { opacity: 0.15; } .chosen rect { stroke: #c00; stroke-width: 2.5; } path.chosen { stroke: #c00; stroke-width: 2; }
)";

// Zooms about the pointer, moves with it, shows one node's edges on a click, and finds nodes by their text.
constexpr const char* kScript = R"(
const svg = document.querySelector('svg'), nodes = [...svg.querySelectorAll('.node')], edges = [...svg.querySelectorAll('path.edge')];
const box = svg.viewBox.baseVal, scale = () => Math.max(box.width / svg.clientWidth, box.height / svg.clientHeight);
let from = null, moved = false;
function fit() {
  box.width = Math.max(svg.clientWidth, 1); box.height = Math.max(svg.clientHeight, 1);
  box.x = +nodes[0].dataset.x - box.width / 2; box.y = -20;
}
fit();
svg.addEventListener('wheel', e => {
  e.preventDefault();
  const k = Math.exp(e.deltaY * 0.0015), s = scale(), r = svg.getBoundingClientRect();
  const px = box.x + box.width / 2 + (e.clientX - r.x - r.width / 2) * s, py = box.y + box.height / 2 + (e.clientY - r.y - r.height / 2) * s;
  box.x = px + (box.x - px) * k; box.y = py + (box.y - py) * k; box.width *= k; box.height *= k;
}, {passive: false});
svg.addEventListener('pointerdown', e => { from = e; moved = false; });
window.addEventListener('pointermove', e => {
  if (!from) return;
  const s = scale();
  if (Math.abs(e.clientX - from.clientX) + Math.abs(e.clientY - from.clientY) > 2) moved = true;
  box.x -= (e.clientX - from.clientX) * s; box.y -= (e.clientY - from.clientY) * s;
  from = e;
});
window.addEventListener('pointerup', () => { from = null; });
function show(keep) {
  nodes.forEach((n, i) => n.classList.toggle('faint', keep !== null && !keep.has(i)));
  edges.forEach(p => p.classList.toggle('faint', keep !== null && !(keep.has(+p.dataset.from) && keep.has(+p.dataset.to))));
}
function choose(i) {
  nodes.forEach((n, k) => n.classList.toggle('chosen', k === i));
  edges.forEach(p => p.classList.toggle('chosen', +p.dataset.from === i || +p.dataset.to === i));
}
svg.addEventListener('click', e => { if (!moved) { const n = e.target.closest('.node'); choose(n ? nodes.indexOf(n) : -1); } });
document.querySelector('#find').addEventListener('input', e => {
  const words = e.target.value.toLowerCase();
  show(words ? new Set(nodes.flatMap((n, i) => n.textContent.toLowerCase().includes(words) ? [i] : [])) : null);
});
document.querySelector('#all').addEventListener('click', () => { box.x = -20; box.y = -20; box.width = +svg.dataset.width + 40; box.height = +svg.dataset.height + 40; });
document.querySelector('#top').addEventListener('click', fit);
)";

std::string escaped(std::string_view text) {
  std::string s;
  for (const char c : text) {
    switch (c) {
      case '<':
        s += "&lt;";
        break;
      case '>':
        s += "&gt;";
        break;
      case '&':
        s += "&amp;";
        break;
      case '"':
        s += "&quot;";
        break;
      default:
        s += c;
    }
  }
  return s;
}

void append_node(std::string& s, const GraphLayout::Box& box, bool leaf) {
  const bool saves = (box.lines.back().starts_with("saved") || box.lines.back().starts_with("packed"));
  s += fmt::format(
      "<g class=\"node{}\" data-x=\"{:.1f}\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "rx=\"4\"/>",
      leaf    ? " leaf"
      : saves ? " saves"
              : "",
      box.x + box.width / 2, box.x, box.y, box.width, box.height);
  double y = box.y + GraphLayout::kPadding + 12;
  for (const std::string& line : box.lines) {
    s +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" textLength=\"{:.1f}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>",
                    box.x + GraphLayout::kPadding, y, double(line.size()) * GraphLayout::kCharacter, escaped(line));
    y += GraphLayout::kLine;
  }
  s += "</g>\n";
}

void append_curve(std::string& s, const GraphLayout::Curve& c) {
  s += fmt::format("<path class=\"edge\" data-from=\"{}\" data-to=\"{}\" marker-end=\"url(#arrow)\" d=\"M{:.1f} {:.1f}",
                   c.from, c.to, c.points[0].first, c.points[0].second);
  for (std::size_t k = 1; k < c.points.size(); ++k) {
    const auto [x0, y0] = c.points[k - 1];
    const auto [x1, y1] = c.points[k];
    if (x0 == x1)
      s += fmt::format(" V{:.1f}", y1);
    else
      s += fmt::format(" C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1);
  }
  s += "\"/>\n";
}

void append_table(std::string& s, const GraphStats& stats) {
  s += fmt::format("<p>{} nodes keep {} for the backward pass, and {} of leaves.</p>", stats.nodes,
                   readable_bytes(stats.saved_bytes), readable_bytes(stats.leaf_bytes));
  s += "<table><tr><th>op</th><th>nodes</th><th>saved</th><th>bytes</th></tr>";
  for (const GraphStats::Op& op : stats.by_op)
    s += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>", escaped(op.name), op.nodes,
                     op.saved_tensors, readable_bytes(op.saved_bytes));
  s += "</table>";
  if (stats.unknown > 0)
    s += fmt::format("<p>Not counted: {} tensors that saved-tensor hooks keep in a form of their own.</p>",
                     stats.unknown);
}

}  // namespace

std::string graph_html(const Tensor& t, const NamedTensors& names) {
  const Graph graph = graph_behind(t, "graph_html");
  const GraphLayout layout = lay_out(graph, names);
  std::string s = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Graph</title><style>";
  s += kStyle;
  s += "</style></head><body><div id=\"side\"><b>Graph, in backward order</b>"
       "<p>Drag to move, turn the wheel to zoom, click a node to see its edges. A box shows the place in the order and "
       "the "
       "operator, its results, and what it saved.</p>"
       "<input id=\"find\" placeholder=\"find: mul, float32[3, 4], weight\"><button id=\"top\">first node</button> "
       "<button id=\"all\">whole graph</button>";
  append_table(s, graph_stats(t));
  s += fmt::format(
      "</div>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-20 -20 {:.1f} {:.1f}\" data-width=\"{:.1f}\" "
      "data-height=\"{:.1f}\">\n<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" "
      "markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" "
      "style=\"fill:#888;stroke:none\"/></marker></defs>\n",
      layout.width + 40, layout.height + 40, layout.width, layout.height);
  for (const GraphLayout::Curve& c : layout.curves) append_curve(s, c);
  for (std::size_t i = 0; i < layout.boxes.size(); ++i) append_node(s, layout.boxes[i], graph.nodes[i].arrows.empty());
  s += "</svg>\n<script>";
  s += kScript;
  return s + "</script></body></html>\n";
}

}  // namespace taper
