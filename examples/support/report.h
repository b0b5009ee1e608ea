#pragma once
#include <cstdint>
#include <string>
#include <vector>

/// What a model makes of the test images.
struct Evaluation {
  struct Mistake {
    double probability = 0;  // that the model gave to its wrong answer
    int truth = 0, answer = 0;
    std::vector<std::uint8_t> pixels;  // rows * columns
  };
  int classes = 10, rows = 28, columns = 28;
  std::vector<std::int64_t> confusion = std::vector<std::int64_t>(100);  // [truth * classes + answer]
  std::vector<Mistake> worst;                                            // most confident first
  double accuracy() const;
};

/// One point of the training curves.
struct EpochResult {
  double loss = 0, test_accuracy = 0;
};

/// Prints precision, recall and F1 of each class, and last `test accuracy 0.8934`.
void print_table(const Evaluation& e);

/// Writes one page with loss and accuracy curves, the confusion matrix and the worst mistakes; needs no other file.
void write_report(const std::string& path, const std::string& title, const std::vector<EpochResult>& epochs,
                  const Evaluation& e);

/// Names of Fashion-MNIST's classes.
const std::vector<std::string>& class_names();
