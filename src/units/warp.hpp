// The number of threads in a warp: 32 on every NVIDIA GPU so far, and fixed by PTX as WARP_SZ.
#pragma once

namespace gputomo {

/// Threads of a warp. A device states its own size as Attribute::warp_size; code that PTX ties to 32 lanes uses this.
inline constexpr int kWarpSize = 32;

}  // namespace gputomo
