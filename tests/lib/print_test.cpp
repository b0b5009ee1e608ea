// The expected texts are PyTorch 1.13's, with dtypes, devices and flags spelled as Taper spells them.
#include <taper/factory.h>
#include <taper/tensor.h>

#include <cmath>
#include <sstream>

#include "support/catch.h"

using namespace taper;

namespace {

/// 0, 1, 2, ... in this shape.
Tensor counted(IntSpan sizes, DType dtype = int64) {
  const SizesAndStrides g = SizesAndStrides::contiguous(sizes);
  return arange(g.numel(), {.dtype = dtype}).as_strided(g.sizes(), g.strides());
}
Tensor named() {
  Tensor t = zeros({1, 2});
  t.set_names({"n", "c"});
  return t;
}

}  // namespace

TEST_CASE("numbers print in columns as PyTorch prints them", "[print]") {
  CHECK(to_string(tensor({1.5, -2, 3.25})) == "tensor([ 1.5000, -2.0000,  3.2500])");
  CHECK(to_string(tensor({{1.0, 2.0}, {3.0, -4.0}})) ==
        R"(tensor([[ 1.,  2.],
        [ 3., -4.]]))");
  CHECK(to_string(tensor({{1, -20}, {300, 4}})) ==
        R"(tensor([[  1, -20],
        [300,   4]]))");
  CHECK(to_string(tensor({true, false})) == "tensor([ True, False])");
  CHECK(to_string(tensor(3.5)) == "tensor(3.5000)");
  CHECK(to_string(tensor(3.0)) == "tensor(3.)");
  CHECK(to_string(tensor(7)) == "tensor(7)");
  CHECK(to_string(tensor(true)) == "tensor(True)");
  CHECK(to_string(tensor({NAN, 1.0, -INFINITY})) == "tensor([nan, 1., -inf])");
  CHECK(to_string(tensor({NAN, 1.5, INFINITY, -100.25})) == "tensor([      nan,    1.5000,       inf, -100.2500])");
  CHECK(to_string(tensor({NAN, NAN})) == "tensor([nan, nan])");
  CHECK(to_string(zeros({2, 2})) ==
        R"(tensor([[0., 0.],
        [0., 0.]]))");
  CHECK(to_string(tensor({-0.0, 0.5})) == "tensor([-0.0000, 0.5000])");
  CHECK(to_string(tensor({0.001, 10.0, -2.0})) == "tensor([ 1.0000e-03,  1.0000e+01, -2.0000e+00])");
  CHECK(to_string(tensor({0.5, 500.0})) == "tensor([  0.5000, 500.0000])");
  CHECK(to_string(tensor({0.00005, 0.00006})) == "tensor([5.0000e-05, 6.0000e-05])");
  CHECK(to_string(tensor({2e8, 3e8})) == "tensor([2.0000e+08, 3.0000e+08])");
  CHECK(to_string(tensor({1.0, 2000.0, 0.0})) == "tensor([1.0000e+00, 2.0000e+03, 0.0000e+00])");
  CHECK(to_string(tensor({1e-6, NAN, 1.0})) == "tensor([1.0000e-06,        nan, 1.0000e+00])");
}

TEST_CASE("rows are wrapped and dimensions nested as PyTorch does it", "[print]") {
  CHECK(to_string(arange(40)) ==
        R"(tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,
        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
        36, 37, 38, 39]))");
  CHECK(to_string(linspace(0, 1, 25)) ==
        R"(tensor([0.0000, 0.0417, 0.0833, 0.1250, 0.1667, 0.2083, 0.2500, 0.2917, 0.3333,
        0.3750, 0.4167, 0.4583, 0.5000, 0.5417, 0.5833, 0.6250, 0.6667, 0.7083,
        0.7500, 0.7917, 0.8333, 0.8750, 0.9167, 0.9583, 1.0000]))");
  CHECK(to_string(counted({2, 3, 2})) ==
        R"(tensor([[[ 0,  1],
         [ 2,  3],
         [ 4,  5]],

        [[ 6,  7],
         [ 8,  9],
         [10, 11]]]))");
  CHECK(to_string(counted({2, 1, 2, 2})) ==
        R"(tensor([[[[0, 1],
          [2, 3]]],


        [[[4, 5],
          [6, 7]]]]))");
  CHECK(to_string(counted({2, 3}).as_strided({3, 2}, {1, 3})) ==
        R"(tensor([[0, 3],
        [1, 4],
        [2, 5]]))");
  CHECK(to_string(counted({4, 5}).as_strided({4, 2}, {5, 2}, 1)) ==
        R"(tensor([[ 1,  3],
        [ 6,  8],
        [11, 13],
        [16, 18]]))");
  CHECK(to_string(tensor({1.5}).as_strided({2, 3}, {0, 0})) ==
        R"(tensor([[1.5000, 1.5000, 1.5000],
        [1.5000, 1.5000, 1.5000]]))");
}

TEST_CASE("a tensor of more than 1000 elements prints its edges", "[print]") {
  CHECK(to_string(arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
  CHECK(to_string(counted({100, 100})) ==
        R"(tensor([[   0,    1,    2,  ...,   97,   98,   99],
        [ 100,  101,  102,  ...,  197,  198,  199],
        [ 200,  201,  202,  ...,  297,  298,  299],
        ...,
        [9700, 9701, 9702,  ..., 9797, 9798, 9799],
        [9800, 9801, 9802,  ..., 9897, 9898, 9899],
        [9900, 9901, 9902,  ..., 9997, 9998, 9999]]))");
  CHECK(to_string(counted({1000, 2}, float32)) ==
        R"(tensor([[0.0000e+00, 1.0000e+00],
        [2.0000e+00, 3.0000e+00],
        [4.0000e+00, 5.0000e+00],
        ...,
        [1.9940e+03, 1.9950e+03],
        [1.9960e+03, 1.9970e+03],
        [1.9980e+03, 1.9990e+03]]))");
  CHECK(to_string(counted({20, 20, 20})) ==
        R"(tensor([[[   0,    1,    2,  ...,   17,   18,   19],
         [  20,   21,   22,  ...,   37,   38,   39],
         [  40,   41,   42,  ...,   57,   58,   59],
         ...,
         [ 340,  341,  342,  ...,  357,  358,  359],
         [ 360,  361,  362,  ...,  377,  378,  379],
         [ 380,  381,  382,  ...,  397,  398,  399]],

        [[ 400,  401,  402,  ...,  417,  418,  419],
         [ 420,  421,  422,  ...,  437,  438,  439],
         [ 440,  441,  442,  ...,  457,  458,  459],
         ...,
         [ 740,  741,  742,  ...,  757,  758,  759],
         [ 760,  761,  762,  ...,  777,  778,  779],
         [ 780,  781,  782,  ...,  797,  798,  799]],

        [[ 800,  801,  802,  ...,  817,  818,  819],
         [ 820,  821,  822,  ...,  837,  838,  839],
         [ 840,  841,  842,  ...,  857,  858,  859],
         ...,
         [1140, 1141, 1142,  ..., 1157, 1158, 1159],
         [1160, 1161, 1162,  ..., 1177, 1178, 1179],
         [1180, 1181, 1182,  ..., 1197, 1198, 1199]],

        ...,

        [[6800, 6801, 6802,  ..., 6817, 6818, 6819],
         [6820, 6821, 6822,  ..., 6837, 6838, 6839],
         [6840, 6841, 6842,  ..., 6857, 6858, 6859],
         ...,
         [7140, 7141, 7142,  ..., 7157, 7158, 7159],
         [7160, 7161, 7162,  ..., 7177, 7178, 7179],
         [7180, 7181, 7182,  ..., 7197, 7198, 7199]],

        [[7200, 7201, 7202,  ..., 7217, 7218, 7219],
         [7220, 7221, 7222,  ..., 7237, 7238, 7239],
         [7240, 7241, 7242,  ..., 7257, 7258, 7259],
         ...,
         [7540, 7541, 7542,  ..., 7557, 7558, 7559],
         [7560, 7561, 7562,  ..., 7577, 7578, 7579],
         [7580, 7581, 7582,  ..., 7597, 7598, 7599]],

        [[7600, 7601, 7602,  ..., 7617, 7618, 7619],
         [7620, 7621, 7622,  ..., 7637, 7638, 7639],
         [7640, 7641, 7642,  ..., 7657, 7658, 7659],
         ...,
         [7940, 7941, 7942,  ..., 7957, 7958, 7959],
         [7960, 7961, 7962,  ..., 7977, 7978, 7979],
         [7980, 7981, 7982,  ..., 7997, 7998, 7999]]]))");
  CHECK(to_string(counted({10, 10000}, float32)) ==
        R"(tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 9.9970e+03, 9.9980e+03,
         9.9990e+03],
        [1.0000e+04, 1.0001e+04, 1.0002e+04,  ..., 1.9997e+04, 1.9998e+04,
         1.9999e+04],
        [2.0000e+04, 2.0001e+04, 2.0002e+04,  ..., 2.9997e+04, 2.9998e+04,
         2.9999e+04],
        ...,
        [7.0000e+04, 7.0001e+04, 7.0002e+04,  ..., 7.9997e+04, 7.9998e+04,
         7.9999e+04],
        [8.0000e+04, 8.0001e+04, 8.0002e+04,  ..., 8.9997e+04, 8.9998e+04,
         8.9999e+04],
        [9.0000e+04, 9.0001e+04, 9.0002e+04,  ..., 9.9997e+04, 9.9998e+04,
         9.9999e+04]]))");
  CHECK(to_string(counted({50, 20})).find("...") == std::string::npos);  // 1000 elements
}

TEST_CASE("what differs from the usual follows the values", "[print]") {
  CHECK(to_string(tensor({0.1, 0.2}, float64)) == "tensor([0.1000, 0.2000], dtype=float64)");
  CHECK(to_string(tensor({1, 2}, int32)) == "tensor([1, 2], dtype=int32)");
  CHECK(to_string(tensor({200, 3}, uint8)) == "tensor([200,   3], dtype=uint8)");
  CHECK(to_string(zeros({0})) == "tensor([])");
  CHECK(to_string(zeros({0, 3})) == "tensor([], size=(0, 3))");
  CHECK(to_string(zeros({0}, int64)) == "tensor([], dtype=int64)");
  CHECK(to_string(zeros({2, 0}, bool_)) == "tensor([], size=(2, 0), dtype=bool)");
  CHECK(to_string(zeros({2, 0, 3}, float64)) == "tensor([], size=(2, 0, 3), dtype=float64)");
  CHECK(to_string(zeros({2, 3}, float32, meta)) == "tensor(..., device=meta, size=(2, 3))");
  CHECK(to_string(full({1, 8}, 0.125, float64)) ==
        R"(tensor([[0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250, 0.1250]],
       dtype=float64))");
  CHECK(to_string(full({5}, 12345.5, float64)) ==
        R"(tensor([12345.5000, 12345.5000, 12345.5000, 12345.5000, 12345.5000],
       dtype=float64))");
  CHECK(to_string(tensor({1.0}, {.requires_grad = true})) == "tensor([1.], requires_grad=True)");
  CHECK(to_string(named()) == "tensor([[0., 0.]], names=('n', 'c'))");
}

TEST_CASE("a result prints the operator it came from", "[print]") {
  const Tensor x = tensor({{1.0, 2.0}}, {.requires_grad = true});

  CHECK(to_string(x.as_strided({2}, {1})) == "tensor([1., 2.], grad_fn=<as_strided>)");
  CHECK(to_string(x.detach()) == "tensor([[1., 2.]])");
}

TEST_CASE("streams and undefined tensors print", "[print]") {
  std::ostringstream os;
  os << tensor({1, 2}) << ' ' << Tensor();

  CHECK(os.str() == "tensor([1, 2]) undefined");
}
