#pragma once
#include <taper/tensor.h>

#include <string>

namespace taper::data {

/// Reads a file in the IDX format of the MNIST database, plain or compressed by gzip, whatever its name.
///
/// The result has the file's shape and dtype: uint8, int8, int16, int32, float32 or float64, on the cpu. Throws IOError
/// if the file cannot be read, is no IDX file, or holds fewer or more elements than its header says.
Tensor read_idx(const std::string& path);

/// Pictures and their classes.
struct LabelledImages {
  Tensor images;  ///< uint8[n, height, width]
  Tensor labels;  ///< int64[n]
};

/// Reads one half of MNIST, Fashion-MNIST or another data set in files of the same names: the 60 000 pictures to train
/// with, or the 10 000 to test with. The files in `folder` are train-images-idx3-ubyte, train-labels-idx1-ubyte,
/// t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, each with or without .gz; a dot before "idx" does as well.
/// Throws IOError if one is missing or they do not fit each other.
LabelledImages load_mnist(const std::string& folder, bool train);

/// Where Debian's package dataset-fashion-mnist puts its files. Throws IOError, which says how to install it, if they
/// are not there.
std::string fashion_mnist_folder();

}  // namespace taper::data
