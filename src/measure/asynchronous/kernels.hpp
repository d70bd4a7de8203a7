// The kernels of kernels.cu as ptxas 13 compiled them. They have asynchronous copies, barriers in shared memory and
// clusters, which only machine code of compute capability 9.0 has on a simulated GPU:
//
//     nvcc -arch=sm_90 -O2 -cubin -o kernels.cubin kernels.cu
#pragma once

#include <string_view>

namespace gputomo::measure {

/// The cubin in hexadecimal digits, with line ends among them.
[[nodiscard]] std::string_view asynchronous_kernels();

}  // namespace gputomo::measure
