// SPDX-License-Identifier: Apache-2.0
//
// Memory that a baseline keeps from call to call, so that it does not pay for fresh pages every time.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace hw {

class Scratch {
 public:
  // At least `count` floats on a cache line boundary, contents unspecified; good until the next call.
  float* floats(int64_t count) {
    if (count > capacity_) {
      std::free(data_);
      data_ = static_cast<float*>(std::aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64));
      capacity_ = count;
    }
    return data_;
  }

 private:
  float* data_ = nullptr;
  int64_t capacity_ = 0;
};

}  // namespace hw
