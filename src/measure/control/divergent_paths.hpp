// A warp whose threads take up to 32 different paths: when each thread ran its own path, and when it was past the
// join.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gputomo::measure {

/// Paths: one for each thread of a warp.
inline constexpr int kPaths = 32;

/// Cycles since the first clock read of the thread's warp.
struct ThreadTimes {
    std::int64_t begin = 0;   ///< of the thread's own path
    std::int64_t end = 0;     ///< of the thread's own path
    std::int64_t joined = 0;  ///< first clock read after all paths
};

/// if (key == 0) {...} else if (key == 1) {...} ... else if (key == 31) {...}, as in Wong 2010, Listing 3. The branch
/// of each `if` jumps to its else side.
class DivergentPaths {
public:
    explicit DivergentPaths(device::Device& device);
    /// One entry for each thread of `warps` warps; thread t takes path key(t).
    [[nodiscard]] std::vector<ThreadTimes> run(int warps, const std::function<int(int thread)>& key);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }
    /// Whether branches fall through to the then sides, as written. False if the compiler swapped the sides, nullopt
    /// if it swapped some.
    [[nodiscard]] std::optional<bool> then_falls_through() const;

private:
    CompiledKernel kernel_;
    device::Buffer keys_;
    device::Buffer times_;
};

[[nodiscard]] ptx::KernelBuilder divergent_paths_kernel(ptx::Target target);

}  // namespace gputomo::measure
