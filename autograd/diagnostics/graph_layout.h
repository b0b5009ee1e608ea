#pragma once
#include "graph.h"

namespace taper {

/// Where a picture of a graph puts its boxes: in rows, every node below all that lead to it. Lengths in pixels.
struct GraphLayout {
  // Of the font that the page asks for; each line is also told its width, should another take its place.
  static constexpr double kCharacter = 7.25, kLine = 16, kPadding = 8;

  struct Box {
    double x = 0, y = 0, width = 0, height = 0;
    std::vector<std::string> lines;
  };
  struct Curve {
    std::size_t from = 0, to = 0;
    std::vector<std::pair<double, double>> points;  // each pair of points is joined by one piece
  };
  std::vector<Box> boxes;  // as Graph::nodes
  std::vector<Curve> curves;
  double width = 0, height = 0;
};
GraphLayout lay_out(const Graph& graph, const NamedTensors& names);

}  // namespace taper
