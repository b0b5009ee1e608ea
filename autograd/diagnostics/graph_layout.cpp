// Boxes in rows, after Sugiyama, Tagawa, Toda 1981: a row per distance from the root, edges that pass a row get a place
// in it, the order within the rows follows the neighbours, and places follow them as far as the order allows.
#include "graph_layout.h"

#include <algorithm>
#include <numeric>

namespace taper {
namespace {

constexpr double kColumnGap = 28, kRowGap = 40, kPassing = 6;  // kPassing: room for an edge that passes a row
constexpr std::size_t kMaxPassing = 20000;                     // beyond that, long edges are drawn straight

/// A box, or the place where a long edge passes a row.
struct Item {
  double width = 0, center = 0;
  std::size_t row = 0;
  std::vector<std::size_t> above, below;
};

class Rows {
 public:
  explicit Rows(const Graph& graph, const std::vector<GraphLayout::Box>& boxes) {
    const std::size_t n = graph.nodes.size();
    items_.resize(n);
    // Nodes come in an order in which every node follows those that lead to it.
    for (std::size_t i = 0; i < n; ++i) {
      items_[i].width = boxes[i].width;
      for (const Graph::Arrow& a : graph.nodes[i].arrows)
        items_[a.to].row = std::max(items_[a.to].row, items_[i].row + 1);
    }
    std::size_t passing = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (const Graph::Arrow& a : graph.nodes[i].arrows) passing += items_[a.to].row - items_[i].row - 1;
    for (std::size_t i = 0; i < n; ++i)
      for (const Graph::Arrow& a : graph.nodes[i].arrows) connect(i, a.to, passing <= kMaxPassing);
    rows_.resize(1 + std::max_element(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
                       return a.row < b.row;
                     })->row);
    for (std::size_t i = 0; i < items_.size(); ++i) rows_[items_[i].row].push_back(i);
  }

  void arrange() {
    for (auto& row : rows_) pack(row);
    for (int sweep = 0; sweep < 12; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (std::size_t k = 0; k < rows_.size(); ++k) {
        auto& row = rows_[down ? k : rows_.size() - 1 - k];
        std::vector<std::pair<double, std::size_t>> wanted;
        for (const std::size_t i : row) wanted.emplace_back(wish(i, down), i);
        if (sweep < 8)
          std::stable_sort(wanted.begin(), wanted.end(), [](auto& a, auto& b) { return a.first < b.first; });
        for (std::size_t j = 0; j < row.size(); ++j) row[j] = wanted[j].second;
        place(row, wanted);
      }
    }
  }

  const Item& operator[](std::size_t i) const { return items_[i]; }
  std::size_t num_rows() const { return rows_.size(); }
  /// The items from `from` to `to` of one edge.
  const std::vector<std::vector<std::size_t>>& edges() const { return edges_; }
  double left() const {
    double x = items_[0].center;
    for (const Item& i : items_) x = std::min(x, i.center - i.width / 2);
    return x;
  }

 private:
  void connect(std::size_t from, std::size_t to, bool through_rows) {
    std::vector<std::size_t> path{from};
    if (through_rows)
      for (std::size_t row = items_[from].row + 1; row < items_[to].row; ++row) {
        Item passing;
        passing.width = kPassing, passing.row = row;
        items_.push_back(std::move(passing));
        path.push_back(items_.size() - 1);
      }
    path.push_back(to);
    for (std::size_t k = 0; k + 1 < path.size(); ++k) {
      items_[path[k]].below.push_back(path[k + 1]);
      items_[path[k + 1]].above.push_back(path[k]);
    }
    edges_.push_back(std::move(path));
  }
  /// The middle of an item's neighbours on one side.
  double wish(std::size_t i, bool from_above) const {
    const auto& near = from_above ? items_[i].above : items_[i].below;
    if (near.empty()) return items_[i].center;
    double sum = 0;
    for (const std::size_t k : near) sum += items_[k].center;
    return sum / double(near.size());
  }
  double apart(std::size_t a, std::size_t b) const { return (items_[a].width + items_[b].width) / 2 + kColumnGap; }
  void pack(const std::vector<std::size_t>& row) {
    for (std::size_t j = 1; j < row.size(); ++j)
      items_[row[j]].center = items_[row[j - 1]].center + apart(row[j - 1], row[j]);
  }
  /// Puts the items of a row as near to where they want to be as their order and widths allow: least squares, by
  /// pooling neighbours that are in each other's way.
  void place(const std::vector<std::size_t>& row, const std::vector<std::pair<double, std::size_t>>& wanted) {
    struct Pool {
      double sum;
      std::size_t count;
      double mean() const { return sum / double(count); }
    };
    std::vector<Pool> pools;
    double shift = 0;
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (j) shift += apart(row[j - 1], row[j]);
      pools.push_back({wanted[j].first - shift, 1});
      while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
        const Pool last = pools.back();
        pools.pop_back();
        pools.back() = {pools.back().sum + last.sum, pools.back().count + last.count};
      }
    }
    std::size_t j = 0;
    shift = 0;
    for (const Pool& p : pools)
      for (std::size_t k = 0; k < p.count; ++k, ++j) {
        if (j) shift += apart(row[j - 1], row[j]);
        items_[row[j]].center = p.mean() + shift;
      }
  }

  std::vector<Item> items_;  // the nodes, then where edges pass
  std::vector<std::vector<std::size_t>> rows_, edges_;
};

}  // namespace

GraphLayout lay_out(const Graph& graph, const NamedTensors& names) {
  GraphLayout out;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    GraphLayout::Box box;
    box.lines = lines_about(graph, i, names);
    std::size_t longest = 0;
    for (const std::string& line : box.lines) longest = std::max(longest, line.size());
    box.width = double(longest) * GraphLayout::kCharacter + 2 * GraphLayout::kPadding;
    box.height = double(box.lines.size()) * GraphLayout::kLine + 2 * GraphLayout::kPadding;
    out.boxes.push_back(std::move(box));
  }
  Rows rows(graph, out.boxes);
  rows.arrange();

  std::vector<double> height(rows.num_rows()), top(rows.num_rows());
  for (std::size_t i = 0; i < out.boxes.size(); ++i)
    height[rows[i].row] = std::max(height[rows[i].row], out.boxes[i].height);
  for (std::size_t r = 1; r < top.size(); ++r) top[r] = top[r - 1] + height[r - 1] + kRowGap;
  const double left = rows.left();
  for (std::size_t i = 0; i < out.boxes.size(); ++i) {
    GraphLayout::Box& box = out.boxes[i];
    box.x = rows[i].center - left - box.width / 2;
    box.y = top[rows[i].row];
    out.width = std::max(out.width, box.x + box.width);
    out.height = std::max(out.height, box.y + box.height);
  }

  std::vector<std::size_t> started(out.boxes.size());
  for (const std::vector<std::size_t>& path : rows.edges()) {
    GraphLayout::Curve curve{path.front(), path.back(), {}};
    const GraphLayout::Box& from = out.boxes[curve.from];
    // The edges of a node leave it side by side, in the order of its arguments.
    const double share = double(++started[curve.from]) / double(graph.nodes[curve.from].arrows.size() + 1);
    const double x = from.x + from.width * share;
    curve.points.emplace_back(x, from.y + from.height);
    for (const std::size_t i : path) {
      const Item& item = rows[i];
      const double center = i == curve.from ? x : item.center - left;
      if (i != curve.from) curve.points.emplace_back(center, top[item.row]);
      if (i != curve.to) curve.points.emplace_back(center, top[item.row] + height[item.row]);
      out.width = std::max(out.width, center);
    }
    out.curves.push_back(std::move(curve));
  }
  return out;
}

}  // namespace taper
