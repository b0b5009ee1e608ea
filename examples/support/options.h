#pragma once
#include <cstdint>
#include <string>

/// What the training programs take on the command line.
struct Options {
  std::string data;  ///< folder with the four IDX files; empty: Debian's dataset-fashion-mnist
  int epochs = 5;
  std::int64_t batch_size = 64;
  double lr = 1e-3;
  double gamma = 0.3;  ///< the learning rate is multiplied by it after every third epoch; 1 keeps it constant
  std::uint64_t seed = 1;
  std::string device = "cpu";  ///< where the network is trained: cpu, cuda, cuda:1
  int threads = 0;             ///< 0: as many as there are cores
  std::string save, load;      ///< checkpoint files; empty: none
  std::string report = "report.html";
};

/// Reads the command line; prints the help or what is wrong with it and ends the program where that is called for.
Options parse_options(int argc, char** argv, const std::string& description);
