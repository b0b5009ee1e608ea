// Every self_test kernel against a naive CPU reference, under several schedules.
#include <cublasLt.h>
#include <cuda_bf16.h>

#include "lenet.h"
#ifdef __CUEMU__
#include <cuemu.h>
#else  // on a real GPU: one plan, nothing to control
namespace cuemu {
enum class Order { forward, reverse, random };
struct Config {
  Order order;
  std::uint64_t seed;
};
static Config& config() {
  static Config c;
  return c;
}
struct Stats {
  std::uint64_t launches = 0, threads = 0, switches = 0;
};
static Stats stats() { return {}; }
static void check_guards() {}
static void fail_malloc_after(int) {}
static bool check_mode() { return false; }
}  // namespace cuemu
#endif
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

using namespace self_test;
using Vec = std::vector<float>;
static int checks, failures;
static std::string where_now;
static void expect(bool ok, const std::string& what) {
  ++checks;
  if (!ok) {
    ++failures;
    std::printf("FAILED: %s: %s\n", where_now.c_str(), what.c_str());
  }
}
static std::mt19937 gen(7);
static Vec rnd(std::size_t n, float lo = -2, float hi = 2) {
  Vec v(n);
  std::uniform_real_distribution<float> d(lo, hi);
  for (auto& x : v) x = d(gen);
  return v;
}
static Buffer<float> up(const Vec& v) {
  Buffer<float> b(v.size());
  b.upload(v.data());
  return b;
}
static Buffer<int> upi(const std::vector<int>& v) {
  Buffer<int> b(v.size());
  b.upload(v.data());
  return b;
}
static Vec down(const Buffer<float>& b) {
  Vec v(b.size());
  b.download(v.data());
  return v;
}
static void near(const Vec& a, const Vec& b, const char* what, float tol = 1e-5f) {
  double d = 0, n = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    double e = double(a[i]) - b[i];
    d += e * e;
    n += double(b[i]) * b[i];
  }
  expect(a.size() == b.size() && std::sqrt(d) <= tol * std::sqrt(n) + 1e-12 && !std::isnan(d),
         std::string(what) + " error " + std::to_string(std::sqrt(d / (n + 1e-30))));
}

static void elementwise() {
  for (std::size_t n : {1, 3, 4, 255, 1027, 40000}) {
    Vec a = rnd(n), b = rnd(n), r(n);
    auto da = up(a), db = up(b);
    Buffer<float> o(n);
    binary_contiguous(Binary::add, da.get(), db.get(), o.get(), n);
    for (std::size_t i = 0; i < n; ++i) r[i] = a[i] + b[i];
    near(down(o), r, "add, contiguous");
  }
  Shape s{3, {5, 7, 11}, {0, 1, 7}, {77, 11, 1}};  // a: [1,7,11] transposed; b: contiguous
  Vec a = rnd(77), b = rnd(385), r(385);
  auto da = up(a), db = up(b);
  Buffer<float> o(385);
  binary(Binary::mul, s, da.get(), db.get(), o.get());
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 7; ++j)
      for (int k = 0; k < 11; ++k) r[i * 77 + j * 11 + k] = a[j + k * 7] * b[i * 77 + j * 11 + k];
  near(down(o), r, "mul, broadcast and strided");
}
static void bf16() {
  Vec x = rnd(1001, -1e3f, 1e3f);
  x[0] = INFINITY;
  x[1] = 0;
  x[2] = 1e-39f;
  auto dx = up(x);
  Buffer<std::uint16_t> h(x.size());
  Buffer<float> y(x.size());
  to_bf16(dx.get(), h.get(), x.size());
  from_bf16(h.get(), y.get(), x.size());
  Vec g = down(y);
  bool ok = std::isinf(g[0]);
  for (std::size_t i = 1; i < x.size(); ++i) ok = ok && std::fabs(g[i] - x[i]) <= std::fabs(x[i]) / 256 + 1e-38f;
  expect(ok, "bf16 round trip");
}
static void dropout_test() {
  std::size_t n = 20001;
  Vec x(n, 1.0f);
  auto dx = up(x);
  Buffer<float> y(n), y2(n);
  Buffer<std::uint64_t> st(2);
  std::uint64_t h[2] = {42, 0};
  st.upload(h);
  dropout(dx.get(), y.get(), n, 0.25f, st.get(), 0);
  dropout(dx.get(), y2.get(), n, 0.25f, st.get(), 0);
  Vec a = down(y);
  near(a, down(y2), "same state, same mask", 0);
  double kept = 0;
  bool scaled = true;
  for (float v : a) {
    kept += v != 0;
    scaled = scaled && (v == 0 || std::fabs(v - 1 / 0.75f) < 1e-6f);
  }
  expect(scaled && std::fabs(kept / n - 0.75) < 0.02, "keep rate");
  advance(st.get(), 1);
  dropout(dx.get(), y2.get(), n, 0.25f, st.get(), 0);
  Vec b = down(y2);
  expect(b != a, "advanced state, other mask");
  // the same two draws by two replays of one graph: the state lives on the device
  h[1] = 0;
  st.upload(h);
  cudaGraph_t g{};
  cudaGraphExec_t ex{};
  check(cudaStreamBeginCapture(device().stream, cudaStreamCaptureModeThreadLocal), "begin");
  dropout(dx.get(), y.get(), n, 0.25f, st.get(), 0);
  advance(st.get(), 1);
  check(cudaStreamEndCapture(device().stream, &g), "end");
  check(cudaGraphInstantiate(&ex, g, 0), "instantiate");
  check(cudaGraphLaunch(ex, device().stream), "launch");
  near(down(y), a, "first replay draws as the first eager call", 0);
  check(cudaGraphLaunch(ex, device().stream), "launch");
  near(down(y), b, "second replay draws as the second", 0);
  cudaGraphExecDestroy(ex);
  cudaGraphDestroy(g);
}
static void reductions() {
  for (std::size_t n : {1, 255, 5000, 100000}) {
    Vec x = rnd(n, 0, 1);
    auto d = up(x);
    Buffer<float> o(1);
    sum_all(d.get(), o.get(), n);
    double s = 0;
    for (float v : x) s += v;
    near(down(o), {float(s)}, "sum");
  }
  for (int cols : {1, 10, 129, 700}) {
    int rows = 9;
    std::size_t n = std::size_t(rows) * cols;
    Vec x = rnd(n, -5, 5), dy = rnd(n), y(n), dx(n);
    for (int r = 0; r < rows; ++r) {
      double m = -1e30, s = 0, dot = 0;
      auto o = std::size_t(r) * cols;
      for (int i = 0; i < cols; ++i) m = std::max(m, double(x[o + i]));
      for (int i = 0; i < cols; ++i) s += std::exp(x[o + i] - m);
      for (int i = 0; i < cols; ++i) {
        y[o + i] = float(std::exp(x[o + i] - m) / s);
        dot += double(y[o + i]) * dy[o + i];
      }
      for (int i = 0; i < cols; ++i) dx[o + i] = float(y[o + i] * (dy[o + i] - dot));
    }
    auto bx = up(x), bdy = up(dy);
    Buffer<float> by(n), bdx(n);
    softmax(bx.get(), by.get(), rows, cols);
    softmax_grad(by.get(), bdy.get(), bdx.get(), rows, cols);
    near(down(by), y, "softmax");
    if (cols > 1) near(down(bdx), dx, "softmax gradient", 1e-4f);
  }
  int rows = 37, cols = 200;
  std::size_t n = std::size_t(rows) * cols;
  Vec x = rnd(n), g = rnd(cols), b = rnd(cols), dy = rnd(n), y(n), dx(n), dg(cols), db(cols), cs(cols);
  for (int r = 0; r < rows; ++r) {
    double mu = 0, q = 0, A = 0, B = 0;
    auto o = std::size_t(r) * cols;
    for (int i = 0; i < cols; ++i) mu += x[o + i] / double(cols);
    for (int i = 0; i < cols; ++i) q += (x[o + i] - mu) * (x[o + i] - mu) / cols;
    double rs = 1 / std::sqrt(q + 1e-5);
    for (int i = 0; i < cols; ++i) {
      double xh = (x[o + i] - mu) * rs, d = double(dy[o + i]) * g[i];
      y[o + i] = float(xh * g[i] + b[i]);
      A += d / cols;
      B += d * xh / cols;
      dg[i] += float(dy[o + i] * xh);
      db[i] += dy[o + i];
      cs[i] += x[o + i];
    }
    for (int i = 0; i < cols; ++i) {
      double xh = (x[o + i] - mu) * rs;
      dx[o + i] = float(rs * (double(dy[o + i]) * g[i] - A - xh * B));
    }
  }
  auto bx = up(x), bg = up(g), bb = up(b), bdy = up(dy);
  Buffer<float> by(n), mean(rows), rstd(rows), bdx(n), bdg(cols), bdb(cols), bcs(cols);
  layernorm(bx.get(), bg.get(), bb.get(), by.get(), mean.get(), rstd.get(), rows, cols);
  layernorm_grad(bx.get(), bg.get(), mean.get(), rstd.get(), bdy.get(), bdx.get(), bdg.get(), bdb.get(), rows, cols);
  column_sum(bx.get(), bcs.get(), rows, cols);
  near(down(by), y, "layernorm");
  near(down(bdx), dx, "layernorm dx", 1e-4f);
  near(down(bdg), dg, "layernorm dgamma");
  near(down(bdb), db, "layernorm dbeta");
  near(down(bcs), cs, "column sum");
}
static void spatial() {
  int R = 70, C = 45;
  Vec x = rnd(R * C), t(R * C);
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) t[c * R + r] = x[r * C + c];
  auto bx = up(x);
  Buffer<float> bt(x.size());
  transpose(bx.get(), bt.get(), R, C);
  near(down(bt), t, "transpose", 0);
  Conv v{2, 9, 8, 3, 3, 1, 9, 8};
  std::size_t ni = 2 * 9 * 8 * 3, nc = 2 * 9 * 8 * 27;
  Vec im = rnd(ni), col(nc), dc = rnd(nc), di(ni);
  for (int b = 0; b < 2; ++b)
    for (int oy = 0; oy < 9; ++oy)
      for (int ox = 0; ox < 8; ++ox)
        for (int ky = 0; ky < 3; ++ky)
          for (int kx = 0; kx < 3; ++kx)
            for (int c = 0; c < 3; ++c) {
              int iy = oy + ky - 1, ix = ox + kx - 1;
              std::size_t o = ((((b * 9 + oy) * 8 + ox) * 3 + ky) * 3 + kx) * 3 + c;
              if (iy < 0 || iy >= 9 || ix < 0 || ix >= 8) continue;
              std::size_t i = ((b * 9 + iy) * 8 + ix) * 3 + c;
              col[o] = im[i];
              di[i] += dc[o];
            }
  auto bi = up(im), bdc = up(dc);
  Buffer<float> bc(nc), bdi(ni);
  im2col(v, bi.get(), bc.get());
  col2im(v, bdc.get(), bdi.get());
  near(down(bc), col, "im2col", 0);
  near(down(bdi), di, "col2im");
  Pool p{2, 9, 8, 3, 3, 2, 4, 3};
  std::size_t no = 2 * 4 * 3 * 3;
  Vec y(no), dy = rnd(no), dx(ni);  // overlapping windows
  for (int b = 0; b < 2; ++b)
    for (int oy = 0; oy < 4; ++oy)
      for (int ox = 0; ox < 3; ++ox)
        for (int c = 0; c < 3; ++c) {
          std::size_t o = ((b * 4 + oy) * 3 + ox) * 3 + c, best = 0;
          float m = -1e30f;
          for (int ky = 0; ky < 3; ++ky)
            for (int kx = 0; kx < 3; ++kx) {
              std::size_t i = ((b * 9 + oy * 2 + ky) * 8 + ox * 2 + kx) * 3 + c;
              if (im[i] > m) {
                m = im[i];
                best = i;
              }
            }
          y[o] = m;
          dx[best] += dy[o];
        }
  Buffer<float> by(no), bdx(ni);
  Buffer<int> idx(no);
  auto bdy = up(dy);
  maxpool(p, bi.get(), by.get(), idx.get());
  maxpool_grad(p, bdy.get(), idx.get(), bdx.get());
  near(down(by), y, "maxpool", 0);
  near(down(bdx), dx, "maxpool gradient");
  int V = 11, D = 150, N = 40;
  Vec tab = rnd(V * D), dout = rnd(N * D), out(N * D), dtab(V * D);
  std::vector<int> ids(N);
  for (auto& i : ids) i = int(gen() % V);
  for (int i = 0; i < N; ++i)
    for (int k = 0; k < D; ++k) {
      out[i * D + k] = tab[ids[i] * D + k];
      dtab[ids[i] * D + k] += dout[i * D + k];
    }
  auto btab = up(tab), bdout = up(dout);
  auto bids = upi(ids);
  Buffer<float> bo(N * D), bdt(V * D);
  bdt.zero();
  embedding(btab.get(), bids.get(), bo.get(), N, D);
  embedding_grad(bdout.get(), bids.get(), bdt.get(), N, D);
  near(down(bo), out, "embedding", 0);
  near(down(bdt), dtab, "embedding gradient");
}
static void tensor_cores() {
  Conv v{3, 9, 7, 8, 3, 1, 9, 7};
  int oc = 70, D = 72, rows = 3 * 63;
  Vec x = rnd(rows * 8), w = rnd(oc * D), b = rnd(oc), r(std::size_t(rows) * oc);
  auto bx = up(x), bw = up(w), bb = up(b);
  Buffer<std::uint16_t> hx(x.size()), hw(w.size());
  Buffer<float> y(r.size());
  to_bf16(bx.get(), hx.get(), x.size());
  to_bf16(bw.get(), hw.get(), w.size());
  from_bf16(hx.get(), bx.get(), x.size());
  from_bf16(hw.get(), bw.get(), w.size());
  x = down(bx);
  w = down(bw);
  for (int n = 0; n < 3; ++n)
    for (int oy = 0; oy < 9; ++oy)
      for (int ox = 0; ox < 7; ++ox)
        for (int o = 0; o < oc; ++o) {
          double s = b[o];
          for (int ky = 0; ky < 3; ++ky)
            for (int kx = 0; kx < 3; ++kx)
              for (int c = 0; c < 8; ++c) {
                int iy = oy + ky - 1, ix = ox + kx - 1;
                if (iy >= 0 && iy < 9 && ix >= 0 && ix < 7)
                  s += double(x[((n * 9 + iy) * 7 + ix) * 8 + c]) * w[o * D + (ky * 3 + kx) * 8 + c];
              }
          r[((n * 9 + oy) * 7 + ox) * std::size_t(oc) + o] = float(std::max(s, 0.0));
        }
  conv_bias_relu(v, hx.get(), hw.get(), bb.get(), y.get(), oc, true);
  near(down(y), r, "convolution by wmma", 1e-4f);
}
static void adam_test() {
  std::vector<int> n{5, 1300, 77};
  std::vector<Vec> p, g, m, v;
  std::vector<Buffer<float>> bp, bg, bm, bv;
  AdamList l{};
  for (int i = 0; i < 3; ++i) {
    p.push_back(rnd(n[i]));
    g.push_back(rnd(n[i]));
    m.push_back(Vec(n[i]));
    v.push_back(Vec(n[i]));
    bp.push_back(up(p[i]));
    bg.push_back(up(g[i]));
    bm.push_back(up(m[i]));
    bv.push_back(up(v[i]));
    l.p[i] = bp[i].get();
    l.g[i] = bg[i].get();
    l.m[i] = bm[i].get();
    l.v[i] = bv[i].get();
    l.n[i] = unsigned(n[i]);
  }
  l.count = 3;
  auto lr = up({0.01f}), step = up({0.0f});
  for (int t = 1; t <= 3; ++t) {
    adam(l, lr.get(), step.get(), 0.9f, 0.999f, 1e-8f, 0.1f);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < n[i]; ++k) {
        m[i][k] = 0.9f * m[i][k] + 0.1f * g[i][k];
        v[i][k] = 0.999f * v[i][k] + 0.001f * g[i][k] * g[i][k];
        p[i][k] = p[i][k] * (1 - 0.001f) - 0.01f * (m[i][k] / (1 - std::pow(0.9f, t))) /
                                               (std::sqrt(v[i][k] / (1 - std::pow(0.999f, t))) + 1e-8f);
      }
  }
  for (int i = 0; i < 3; ++i) near(down(bp[i]), p[i], "Adam");
}
static void blas() {
  for (int ta = 0; ta < 2; ++ta)
    for (int tb = 0; tb < 2; ++tb) {
      int m = 7, n = 5, k = 9, B = 3;
      Vec a = rnd(B * m * k), b = rnd(B * k * n), c = rnd(B * m * n), r(c);
      for (int q = 0; q < B; ++q)
        for (int i = 0; i < m; ++i)
          for (int j = 0; j < n; ++j) {
            double s = 0;
            for (int t = 0; t < k; ++t)
              s += double(a[q * m * k + (ta ? t * m + i : i * k + t)]) * b[q * k * n + (tb ? j * k + t : t * n + j)];
            float& o = r[q * m * n + i * n + j];
            o = float(1.5 * s + 0.5 * o);
          }
      auto da = up(a), db = up(b), dc = up(c);
      gemm(ta, tb, m, n, k, 1.5f, da.get(), db.get(), 0.5f, dc.get(), B, m * k, k * n, m * n);
      near(down(dc), r, "batched gemm");
    }
  // cublasLt: D = relu(A B + bias), keeping the mask; then dA-side: D = mask * (A B), with the bias gradient
  int m = 20, n = 6, k = 9;
  Vec a = rnd(m * k), b = rnd(k * n), bias = rnd(m), r(m * n), bg(m);
  auto da = up(a), db = up(b), dbias = up(bias);
  Buffer<float> d(m * n), d2(m * n), dbg(m);
  Buffer<std::uint8_t> aux(128 / 8 * n);
  cublasLtHandle_t h;
  cublasLtCreate(&h);
  cublasLtMatmulDesc_t md;
  cublasLtMatmulDescCreate(&md, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatrixLayout_t A, Bl, D;
  cublasLtMatrixLayoutCreate(&A, CUDA_R_32F, m, k, m);
  cublasLtMatrixLayoutCreate(&Bl, CUDA_R_32F, k, n, k);
  cublasLtMatrixLayoutCreate(&D, CUDA_R_32F, m, n, m);
  auto set = [&](cublasLtMatmulDescAttributes_t at, auto v) {
    expect(cublasLtMatmulDescSetAttribute(md, at, &v, sizeof v) == CUBLAS_STATUS_SUCCESS, "set attribute");
  };
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, (void*)dbias.get());
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, (void*)aux.get());
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t(128));
  float one = 1, zero = 0;
  expect(cublasLtMatmul(h, md, &one, da.get(), A, db.get(), Bl, &zero, d.get(), D, d.get(), D, nullptr, nullptr, 0,
                        device().stream) == CUBLAS_STATUS_SUCCESS,
         "Lt forward");
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DRELU_BGRAD);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, (void*)dbg.get());
  expect(cublasLtMatmul(h, md, &one, da.get(), A, db.get(), Bl, &zero, d2.get(), D, d2.get(), D, nullptr, nullptr, 0,
                        device().stream) == CUBLAS_STATUS_SUCCESS,
         "Lt backward");
  Vec r2(m * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      double s = 0;
      for (int t = 0; t < k; ++t) s += double(a[t * m + i]) * b[j * k + t];
      float v = float(s) + bias[i];
      r[j * m + i] = std::max(v, 0.0f);
      r2[j * m + i] = v > 0 ? float(s) : 0;
      bg[i] += r2[j * m + i];
    }
  near(down(d), r, "Lt relu bias");
  near(down(d2), r2, "Lt drelu");
  near(down(dbg), bg, "Lt bias gradient", 1e-4f);
  cublasLtMatmulDescDestroy(md);
  cublasLtDestroy(h);
}
static void host_part() {
  // events order two streams
  cudaStream_t s2;
  cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking);
  cudaEvent_t e;
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  Vec x = rnd(5000), y(5000);
  auto d = up(x);
  Buffer<float> o(5000);
  float* host;
  cudaMallocHost(&host, 20000);
  binary_contiguous(Binary::add, d.get(), d.get(), o.get(), 5000);
  cudaEventRecord(e, device().stream);
  cudaStreamWaitEvent(s2, e, 0);
  cudaMemcpyAsync(host, o.get(), 20000, cudaMemcpyDeviceToHost, s2);
  cudaStreamSynchronize(s2);
  for (int i = 0; i < 5000; ++i) y[i] = 2 * x[i];
  near(Vec(host, host + 5000), y, "copy on another stream after an event", 0);
  cudaFreeHost(host);
  cudaEventDestroy(e);
  cudaStreamDestroy(s2);
  // the allocator retries after an out-of-memory answer, then gives up cleanly
  device().sync();
  cuemu::fail_malloc_after(1);
  {
    Buffer<float> big(5 << 20);
    expect(big.get() != nullptr, "retry after one failure");
  }
  bool thrown = false;
  try {
    Buffer<float> b(std::size_t(1) << 40);
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  expect(thrown, "too large a request throws bad_alloc");
  int before = device().mem.driver_calls();
  for (int i = 0; i < 100; ++i) {
    Buffer<float> a(1000), b(3000);
  }
  expect(device().mem.driver_calls() == before, "cached blocks are re-used");
}

static Vec lenet_run(bool graph, int steps, double* ms) {
  int B = 16;
  LeNet net(B);
  std::mt19937 g(3);
  std::uniform_real_distribution<float> u(0, 1);
  Vec losses(B), out;
  cudaGraph_t gr{};
  cudaGraphExec_t ex{};
  auto feed = [&] {
    Vec x(B * 784);
    std::vector<int> t(B);
    for (int b = 0; b < B; ++b) {
      t[b] = b % 10;
      for (int i = 0; i < 784; ++i) x[b * 784 + i] = u(g) * 0.3f + ((i / 28) / 3 == t[b] ? 1.0f : 0.0f);
    }
    net.x.upload(x.data());
    net.target.upload(t.data());
  };
  if (graph) {
    device().mem.begin_pool(1);
    check(cudaStreamBeginCapture(device().stream, cudaStreamCaptureModeThreadLocal), "begin");
    net.train_step();
    check(cudaStreamEndCapture(device().stream, &gr), "end");
    device().mem.end_pool();
    check(cudaGraphInstantiate(&ex, gr, 0), "instantiate");
  }
  auto t0 = std::chrono::steady_clock::now();
  for (int s = 0; s < steps; ++s) {
    feed();
    if (graph)
      check(cudaGraphLaunch(ex, device().stream), "launch");
    else
      net.train_step();
    net.loss.download(losses.data());
    float l = 0;
    for (float v : losses) l += v / B;
    out.push_back(l);
  }
  if (ms) *ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t0).count() / steps;
  if (ex) {
    cudaGraphExecDestroy(ex);
    cudaGraphDestroy(gr);
  }
  return out;
}
static void lenet() {
  int steps = cuemu::check_mode() ? 3 : 12;
  double ms, ms2;
  Vec a = lenet_run(false, steps, &ms), b = lenet_run(true, steps, &ms2);
  near(a, b, "LeNet: graph replay equals eager", 1e-4f);
  expect(a.back() < a.front(), "LeNet: the loss falls");
  std::printf("  LeNet, batch 16: loss %.3f -> %.3f in %d steps; %.1f ms a step eager, %.1f ms a graph replay\n",
              a.front(), a.back(), steps, ms, ms2);
}

int main() {
  auto& c = cuemu::config();
  std::vector<std::pair<cuemu::Order, std::uint64_t>> plans{
      {cuemu::Order::forward, 1}, {cuemu::Order::reverse, 1}, {cuemu::Order::random, 1}, {cuemu::Order::random, 2}};
#ifndef __CUEMU__
  plans.resize(1);
#endif
  std::vector<std::pair<const char*, void (*)()>> tests{{"elementwise", elementwise}, {"bf16", bf16},
                                                        {"dropout", dropout_test},    {"reductions", reductions},
                                                        {"spatial", spatial},         {"wmma conv", tensor_cores},
                                                        {"adam", adam_test},          {"blas", blas},
                                                        {"host part", host_part},     {"lenet", lenet}};
  for (auto [o, s] : plans) {
    c.order = o;
    c.seed = s;
    for (auto& [name, f] : tests) {
      where_now = std::string(name) + " order " + std::to_string(int(o)) + " seed " + std::to_string(s);
      auto t0 = std::chrono::steady_clock::now();
      auto st = cuemu::stats();
      f();
      device().sync();
      cuemu::check_guards();
      double sec = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
      auto st2 = cuemu::stats();
      std::printf("%-12s order %d seed %llu: %7.1f ms, %5llu launches, %9llu threads, %8llu switches\n", name, int(o),
                  (unsigned long long)s, sec * 1e3, (unsigned long long)(st2.launches - st.launches),
                  (unsigned long long)(st2.threads - st.threads), (unsigned long long)(st2.switches - st.switches));
    }
  }
  std::printf("%s mode: %d passed, %d failed\n", cuemu::check_mode() ? "check" : "fast", checks - failures, failures);
  return failures != 0;
}
