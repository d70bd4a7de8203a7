// A loop with a known number of accesses in flight: each warp waits for all of its accesses before it issues the next
// ones.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"
#include "units/warp.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace gputomo::measure {

enum class AccessKind : std::uint8_t {
    load,    ///< bypasses the L1
    store,   ///< followed by a fence that waits for it
    atomic,  ///< an add that returns the old value
    async,   ///< from global to shared memory (cp.async; from compute capability 8.0 on)
};
[[nodiscard]] std::string_view name_of(AccessKind kind);

/// What one warp does in a loop iteration.
struct AccessForm {
    AccessKind kind = AccessKind::load;
    int count = 1;             ///< accesses of a thread; 0 for an iteration without accesses
    int bytes = 16;            ///< of each access: 4 or 16
    std::uint32_t span = 512;  ///< bytes between successive accesses of a warp
    bool mixed = false;        ///< every second access goes to another area
};

/// The blocks, one on an SM, and the warps of each that take part.
struct AccessShape {
    int blocks = 1;
    int warps = 1;  ///< warps that take part
    int every = 1;  ///< only every n-th warp of a block takes part: 4 puts all of them on one of four schedulers
};

/// Where accesses go. `bytes` is a power of two, at most 2^31. A warp's accesses of one iteration may extend beyond
/// them, so the allocation must be larger by that much.
struct AccessArea {
    device::Address base = 0;
    std::int64_t bytes = 0;
    bool continues = false;  ///< each launch begins where the last one ended, so that nothing of the area is cached
    std::int64_t at = 0;     ///< byte offset at which the next launch begins
};

/// A kernel with one form of access, launched with varying shapes.
class AccessLoop {
public:
    /// The largest block of all GPUs so far has 32 warps.
    static constexpr int kWarp = kWarpSize, kMostWarps = 32;

    /// `offset_of(lane)`: bytes from a warp's position to the lane's. Throws CodeMismatch if the machine code has
    /// other accesses.
    AccessLoop(device::Device& device, AccessForm form, const std::function<std::uint32_t(int)>& offset_of);

    /// Cycles in which each warp of a block makes `iterations` iterations: the mean over blocks. The result is nullopt
    /// if two blocks ran on one SM or a block does not fit. `other`: the area of every second access of a mixed form,
    /// at the same offsets.
    std::optional<double> cycles(AccessShape shape, int iterations, AccessArea& area,
                                 const AccessArea* other = nullptr);
    /// Cycles of one iteration: the difference of a launch of `iterations` and one of twice as many. The fastest of at
    /// most `runs` pairs of launches counts. Fewer run if two agree.
    std::optional<double> cycles_per_iteration(AccessShape shape, int iterations, int runs, AccessArea& area,
                                               const AccessArea* other = nullptr);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }
    [[nodiscard]] const AccessForm& form() const { return form_; }

private:
    AccessForm form_;
    CompiledKernel kernel_;
    device::Buffer results_;
    device::Buffer lanes_;
    std::int64_t most_shared_;
};

[[nodiscard]] ptx::KernelBuilder access_loop_kernel(ptx::Target target, AccessForm form);

}  // namespace gputomo::measure
