// SPDX-License-Identifier: Apache-2.0
// y[n, f, i, j] = sum over c, p, q of x[n, c, i + p, j + q] * w[f, c, p, q]; no padding, stride one.
//
// The micro-kernel keeps a block of output channels times a stretch of one output row in registers and walks over
// input channels and taps; weights are packed so that the channels of a block lie side by side.
#include "pool.h"
#include "scratch.h"
#include "simd.h"

namespace {

using hw::kLanes;
using hw::vf;

constexpr int kChannels = 6;  // output channels in a block, at most
constexpr int kVectors = 4;   // vectors of one output row in a block, at most

struct Plane {
  const float* x;        // the input at (n, 0, i, j)
  const float* weights;  // [c][p][q][channel of the block]
  float* y;              // the output at (n, f, i, j)
  int64_t channels, x_plane, x_width, y_plane;
  int64_t last;          // lanes of the last vector
};

template <int F, int V>
void block(const Plane& at) {
  vf sum[F][V];
#pragma GCC unroll 8
  for (int f = 0; f < F; ++f)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) sum[f][v] = vf{};
  const hw::First last(at.last);
  const float* w = at.weights;
  for (int64_t c = 0; c < at.channels; ++c) {
    const float* row = at.x + c * at.x_plane;
    for (int p = 0; p < 3; ++p, row += at.x_width)
#pragma GCC unroll 3
      for (int q = 0; q < 3; ++q, w += F) {
        vf value[V];
#pragma GCC unroll 8
        for (int v = 0; v + 1 < V; ++v) value[v] = hw::load(row + q + v * kLanes);
        value[V - 1] = hw::load_first<vf>(row + q + (V - 1) * kLanes, last);
#pragma GCC unroll 8
        for (int f = 0; f < F; ++f) {
          const vf weight = hw::splat(w[f]);
#pragma GCC unroll 8
          for (int v = 0; v < V; ++v) sum[f][v] = hw::fma(value[v], weight, sum[f][v]);
        }
      }
  }
#pragma GCC unroll 8
  for (int f = 0; f < F; ++f) {
    float* to = at.y + f * at.y_plane;
#pragma GCC unroll 8
    for (int v = 0; v + 1 < V; ++v) hw::store(to + v * kLanes, sum[f][v]);
    hw::store_first(to + (V - 1) * kLanes, last, sum[f][V - 1]);
  }
}

using Block = void (*)(const Plane&);
template <int F>
constexpr Block kRowOfBlocks[kVectors] = {block<F, 1>, block<F, 2>, block<F, 3>, block<F, 4>};
constexpr const Block* kBlocks[kChannels] = {kRowOfBlocks<1>, kRowOfBlocks<2>, kRowOfBlocks<3>,
                                             kRowOfBlocks<4>, kRowOfBlocks<5>, kRowOfBlocks<6>};

struct Split {  // total cut into `parts` nearly equal parts of at most `limit`
  int64_t total, parts;
  Split(int64_t total, int64_t limit) : total(total), parts((total + limit - 1) / limit) {}
  int64_t begin(int64_t part) const { return part * total / parts; }
  int64_t size(int64_t part) const { return begin(part + 1) - begin(part); }
};

void pack(const float* w, float* packed, int64_t filters, int64_t taps) {
  for (int64_t f = 0; f < filters; ++f)
    for (int64_t tap = 0; tap < taps; ++tap) packed[tap * filters + f] = w[f * taps + tap];
}

hw::Scratch scratch;

}  // namespace

extern "C" void hw_conv3x3(const float* x, const float* w, float* y, int64_t images, int64_t channels,
                           int64_t height, int64_t width, int64_t filters) {
  const int64_t y_height = height - 2, y_width = width - 2;
  const Split in_filters(filters, kChannels);
  const int64_t vectors = (y_width + kLanes - 1) / kLanes;
  const Split in_width(vectors, kVectors);
  float* const weights = scratch.floats(filters * channels * 9);
  hw::Pool::instance().run(in_filters.parts, [&](int64_t part) {
    const int64_t f = in_filters.begin(part);
    pack(w + f * channels * 9, weights + f * channels * 9, in_filters.size(part), channels * 9);
  });
  hw::parallel_for(images * y_height, 4, [&](int64_t begin, int64_t end) {
    for (int64_t part = 0; part < in_filters.parts; ++part)
      for (int64_t row = begin; row < end; ++row)
        for (int64_t stretch = 0; stretch < in_width.parts; ++stretch) {
          const int64_t n = row / y_height, i = row % y_height, f = in_filters.begin(part);
          const int64_t first = in_width.begin(stretch), count = in_width.size(stretch);
          const int64_t j = first * kLanes, behind = y_width - (first + count - 1) * kLanes;
          const Plane at = {x + (n * channels * height + i) * width + j,
                            weights + f * channels * 9,
                            y + ((n * filters + f) * y_height + i) * y_width + j,
                            channels, height * width, width, y_height * y_width,
                            behind < kLanes ? behind : kLanes};
          kBlocks[in_filters.size(part) - 1][count - 1](at);
        }
  });
}
