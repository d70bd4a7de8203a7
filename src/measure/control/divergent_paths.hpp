// A warp whose threads take up to 32 different ways, each timed: when each thread ran its own, and when it was behind
// the join.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gputomo::measure {

inline constexpr int kPaths = 32;

/// Cycles since the first clock read of the thread's warp.
struct ThreadTimes {
    std::int64_t begin = 0;   ///< of the thread's own path
    std::int64_t end = 0;     ///< of that
    std::int64_t joined = 0;  ///< first clock read behind all paths
};

/// if (key == 0) {...} else if (key == 1) {...} ... else if (key == 31) {...}, as Wong 2010, Listing 3; the branch of
/// each `if` goes to its else side.
class DivergentPaths {
public:
    explicit DivergentPaths(device::Device& device);
    /// One entry a thread of `warps` warps, thread t taking path key(t).
    [[nodiscard]] std::vector<ThreadTimes> run(int warps, const std::function<int(int thread)>& key);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }
    /// Whether then sides are what their branches fall through to, as written: false where the compiler turned them
    /// round, nullopt where it did so with some.
    [[nodiscard]] std::optional<bool> then_falls_through() const;

private:
    CompiledKernel kernel_;
    device::Buffer keys_;
    device::Buffer times_;
};

/// Ifs within each other, kNests deep: each thread goes as far in as its number says and runs the rest of each level on
/// its way out, so that all join in the innermost if that they share.
class NestedIfs {
public:
    static constexpr int kNests = 16;
    explicit NestedIfs(device::Device& device);
    /// Cycles of the whole nest, where `splits` of its branches, the outermost ones, each lose one thread and all
    /// others go in to the end.
    [[nodiscard]] double cycles(int splits);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }
    /// Whether each level is what its branch falls through to, as written.
    [[nodiscard]] bool as_written() const;

private:
    CompiledKernel kernel_;
    device::Buffer depths_;
    device::Buffer stamps_;
};

[[nodiscard]] ptx::KernelBuilder nested_ifs_kernel(ptx::Target target);

[[nodiscard]] ptx::KernelBuilder divergent_paths_kernel(ptx::Target target);

/// Cycles of one branch that all threads of a warp take, or that none takes (Volkov 2016, 3.7).
class UniformBranches {
public:
    UniformBranches(device::Device& device, bool taken);
    [[nodiscard]] double latency();
    [[nodiscard]] const CompiledKernel& few() const { return few_; }
    [[nodiscard]] const CompiledKernel& many() const { return many_; }
    /// The check that failed, with the listing, where as_written() says so.
    [[nodiscard]] results::CodeCheck layout() const;
    /// Whether the compiler left the branches as they were written.
    [[nodiscard]] bool as_written() const;

private:
    [[nodiscard]] double cycles_of(CompiledKernel& kernel);
    bool taken_;
    CompiledKernel few_;
    CompiledKernel many_;
    device::Buffer stamps_;
};

[[nodiscard]] ptx::KernelBuilder uniform_branches_kernel(ptx::Target target, bool taken, int branches);

/// Wong 2010, Listing 4: thread t of a warp spins until a shared counter is t, and then increments it; but no longer
/// than some ten thousand turns.
[[nodiscard]] ptx::KernelBuilder spin_within_warp_kernel(ptx::Target target);
/// How many of the warp's threads left the loop because the counter had come to them.
[[nodiscard]] int threads_that_got_through(device::Device& device, results::Outcome& outcome);

}  // namespace gputomo::measure
