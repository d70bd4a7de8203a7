// Accesses with a known number of them under way: each warp waits for all of its accesses before it issues the next
// ones.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace gputomo::measure {

enum class AccessKind : std::uint8_t {
    load,    ///< past the caches of the SM
    store,   ///< and a fence that waits for it
    atomic,  ///< an add that returns the old value
    async,   ///< from global to shared memory (cp.async; from compute capability 8.0 on)
};
[[nodiscard]] std::string_view name_of(AccessKind kind);

/// What one warp does in a turn.
struct AccessForm {
    AccessKind kind = AccessKind::load;
    int count = 1;             ///< accesses of a thread; 0 for a turn without any
    int bytes = 16;            ///< of each: 4 or 16
    std::uint32_t span = 512;  ///< bytes from one access of a warp to its next
    bool mixed = false;        ///< every second access goes to another area
};

/// Blocks, of which one runs on an SM, and the warps of each that take part.
struct AccessShape {
    int blocks = 1;
    int warps = 1;  ///< that take part
    int every = 1;  ///< of the block's warps, each so many-th does: 4 puts them on one scheduler of four
};

/// Where accesses go. `bytes` is a power of two, at most 2^31, and `slack` bytes behind it belong to it too.
struct AccessArea {
    device::Address base = 0;
    std::int64_t bytes = 0;
    bool continues = false;  ///< each launch begins where the last one ended, so that nothing of the area is in a cache
    std::int64_t at = 0;
};

class AccessLoop {
public:
    static constexpr int kWarp = 32, kMostWarps = 32;

    /// `offset_of(lane)`: bytes from a warp's place to the lane's. Throws CodeMismatch where the accesses are not what
    /// was written.
    AccessLoop(device::Device& device, AccessForm form, const std::function<std::uint32_t(int)>& offset_of);

    /// Cycles of a block, the mean over blocks, in which each warp takes `turns` turns. Nothing where two blocks were
    /// on one SM or a block does not fit. `other`: where every second access of a mixed form goes, at the same places
    /// within it.
    std::optional<double> cycles(AccessShape shape, int iterations, AccessArea& area,
                                 const AccessArea* other = nullptr);
    /// Of a turn, from launches of `turns` and of twice as many; the fastest of at most `runs`, fewer where two agree.
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
