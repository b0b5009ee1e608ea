#include "report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace {

std::string format(const char* pattern, double v) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, v);
  return text;
}

std::string base64(const std::string& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (i + k < bytes.size() ? std::uint8_t(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

/// A grey picture as a BMP file: the one format simple enough to write in ten lines that every browser shows.
std::string bitmap(const std::vector<std::uint8_t>& pixels, int rows, int columns) {
  std::string out;
  const auto number = [&](std::uint32_t v, int bytes) {
    for (int i = 0; i < bytes; ++i) out += char(v >> (8 * i) & 255);
  };
  const int stride = (columns + 3) / 4 * 4;
  const std::uint32_t start = 14 + 40 + 256 * 4;
  out += "BM";
  number(start + std::uint32_t(stride * rows), 4), number(0, 4), number(start, 4);
  number(40, 4), number(std::uint32_t(columns), 4), number(std::uint32_t(rows), 4), number(1, 2), number(8, 2);
  for (int i = 0; i < 6; ++i) number(i == 4 ? 256 : 0, 4);
  for (std::uint32_t g = 0; g < 256; ++g) number(g * 0x010101u, 4);
  for (int r = rows; r-- > 0;) {
    for (int c = 0; c < stride; ++c) out += c < columns ? char(255 - pixels[std::size_t(r * columns + c)]) : '\0';
  }
  return out;
}

/// A curve over the epochs as SVG, from `low` to `high` on the vertical axis.
std::string curve(const std::string& title, const std::vector<double>& values, double low, double high,
                  const std::string& color) {
  constexpr int kWidth = 420, kHeight = 220, kLeft = 48, kTop = 28, kBottom = 30;
  const double x_step = values.size() > 1 ? double(kWidth - kLeft - 12) / double(values.size() - 1) : 0;
  const auto y_of = [&](double v) { return kTop + (high - v) / (high - low) * (kHeight - kTop - kBottom); };
  std::string s = "<svg viewBox='0 0 " + std::to_string(kWidth) + ' ' + std::to_string(kHeight) + "' role='img'>";
  s += "<text x='" + std::to_string(kLeft) + "' y='18' class='t'>" + title + "</text>";
  for (int i = 0; i <= 4; ++i) {
    const double v = low + (high - low) * i / 4;
    const std::string y = format("%.1f", y_of(v));
    s += "<line class='g' x1='" + std::to_string(kLeft) + "' x2='" + std::to_string(kWidth - 12) + "' y1='" + y +
         "' y2='" + y + "'/><text class='a' text-anchor='end' x='" + std::to_string(kLeft - 6) + "' y='" +
         format("%.1f", y_of(v) + 4) + "'>" + format("%.3f", v) + "</text>";
  }
  std::string points;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string x = format("%.1f", kLeft + x_step * double(i)), y = format("%.1f", y_of(values[i]));
    points += x + ',' + y + ' ';
    s += "<circle r='3' fill='" + color + "' cx='" + x + "' cy='" + y + "'><title>epoch " + std::to_string(i + 1) +
         ": " + format("%.4f", values[i]) + "</title></circle><text class='a' text-anchor='middle' x='" + x + "' y='" +
         std::to_string(kHeight - 10) + "'>" + std::to_string(i + 1) + "</text>";
  }
  return s + "<polyline fill='none' stroke-width='2' stroke='" + color + "' points='" + points + "'/></svg>";
}

std::string confusion_table(const Evaluation& e) {
  const auto& names = class_names();
  std::string s = "<table><tr><th>is \\ taken for</th>";
  for (int c = 0; c < e.classes; ++c) s += "<th>" + names[std::size_t(c)] + "</th>";
  s += "</tr>";
  for (int t = 0; t < e.classes; ++t) {
    std::int64_t total = 0;
    for (int c = 0; c < e.classes; ++c) total += e.confusion[std::size_t(t * e.classes + c)];
    s += "<tr><th>" + names[std::size_t(t)] + "</th>";
    for (int c = 0; c < e.classes; ++c) {
      const std::int64_t n = e.confusion[std::size_t(t * e.classes + c)];
      const double share = total ? double(n) / double(total) : 0;
      s += std::string("<td style='background:rgba(") + (c == t ? "40,130,70," : "200,60,40,") + format("%.3f", share) +
           ")'>" + std::to_string(n) + "</td>";
    }
    s += "</tr>";
  }
  return s + "</table>";
}

}  // namespace

const std::vector<std::string>& class_names() {
  static const std::vector<std::string> names{"T-shirt", "Trouser", "Pullover", "Dress", "Coat",
                                              "Sandal",  "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  return names;
}

double Evaluation::accuracy() const {
  std::int64_t right = 0, all = 0;
  for (int t = 0; t < classes; ++t)
    for (int c = 0; c < classes; ++c) {
      const std::int64_t n = confusion[std::size_t(t * classes + c)];
      all += n;
      right += t == c ? n : 0;
    }
  return all ? double(right) / double(all) : 0;
}

void print_table(const Evaluation& e) {
  std::printf("\n%-12s %9s %9s %9s %9s\n", "class", "precision", "recall", "F1", "images");
  for (int k = 0; k < e.classes; ++k) {
    std::int64_t taken = 0, truth = 0;
    for (int i = 0; i < e.classes; ++i) {
      taken += e.confusion[std::size_t(i * e.classes + k)];
      truth += e.confusion[std::size_t(k * e.classes + i)];
    }
    const double right = double(e.confusion[std::size_t(k * e.classes + k)]);
    const double precision = taken ? right / double(taken) : 0, recall = truth ? right / double(truth) : 0;
    const double f1 = precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
    std::printf("%-12s %9.3f %9.3f %9.3f %9lld\n", class_names()[std::size_t(k)].c_str(), precision, recall, f1,
                static_cast<long long>(truth));
  }
  std::printf("\ntest accuracy %.4f\n", e.accuracy());
}

void write_report(const std::string& path, const std::string& title, const std::vector<EpochResult>& epochs,
                  const Evaluation& e) {
  std::vector<double> losses, accuracies;
  for (const EpochResult& r : epochs) losses.push_back(r.loss), accuracies.push_back(r.test_accuracy);
  const double top = losses.empty() ? 1 : std::max(1e-6, *std::max_element(losses.begin(), losses.end()));
  const double low = accuracies.empty() ? 0 : *std::min_element(accuracies.begin(), accuracies.end());

  std::ofstream out(path);
  out << "<!doctype html><html lang='en'><meta charset='utf-8'><title>" << title
      << "</title><style>body{font:15px/1.5 system-ui,sans-serif;max-width:960px;margin:2em auto;padding:0 "
         "1em;color:#222}"
         "svg{width:100%;max-width:450px}.t{font-weight:600;font-size:14px}.a{font-size:11px;fill:#666}.g{stroke:#ddd}"
         "table{border-collapse:collapse;font-size:12px}td,th{padding:4px 6px;text-align:right;border:1px solid #eee}"
         ".m{display:grid;grid-template-columns:repeat(auto-fill,minmax(120px,1fr));gap:12px}"
         ".m img{width:84px;image-rendering:pixelated;border:1px solid #ddd;display:block}.m div{font-size:12px}"
         "</style><h1>"
      << title << "</h1><p>Test accuracy <b>" << format("%.4f", e.accuracy()) << "</b> after " << epochs.size()
      << " epochs.</p>" << curve("training loss", losses, 0, top, "#2a6fb0")
      << curve("test accuracy", accuracies, std::max(0.0, low - 0.02), 1, "#28824a") << "<h2>Confusion matrix</h2>"
      << confusion_table(e) << "<h2>The worst mistakes</h2><div class='m'>";
  for (const Evaluation::Mistake& m : e.worst)
    out << "<div><img alt='' src='data:image/bmp;base64," << base64(bitmap(m.pixels, e.rows, e.columns)) << "'>is a <b>"
        << class_names()[std::size_t(m.truth)] << "</b>, taken for a <b>" << class_names()[std::size_t(m.answer)]
        << "</b> with " << format("%.1f", 100 * m.probability) << " %</div>";
  out << "</div></html>\n";
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path);
}
