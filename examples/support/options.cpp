#include "options.h"

#include <CLI/CLI.hpp>

Options parse_options(int argc, char** argv, const std::string& description) {
  Options o;
  CLI::App app{description};
  app.add_option("--data", o.data, "folder with the IDX files (plain or .gz); default: Debian's dataset-fashion-mnist");
  app.add_option("--epochs", o.epochs, "passes over the training images")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--batch-size", o.batch_size, "images per step")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--lr", o.lr, "Adam's learning rate")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--gamma", o.gamma, "factor of the learning rate after every third epoch; 1: constant")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", o.seed, "seed of weights and shuffling")->capture_default_str();
  app.add_option("--device", o.device, "where the network is trained: cpu, cuda, cuda:1")->capture_default_str();
  app.add_option("--threads", o.threads, "CPU threads; 0: all cores")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--save", o.save, "write a checkpoint here after every epoch");
  app.add_option("--load", o.load, "continue from this checkpoint")->check(CLI::ExistingFile);
  app.add_option("--report", o.report, "where the picture of the training goes")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e));
  }
  return o;
}
