// How long fences hold their warp.
#pragma once

#include "machine/machine.hpp"

#include <algorithm>
#include <string_view>

namespace gputomo::costs {

inline constexpr std::string_view kGpuFence = "fence.acq_rel.gpu";
inline constexpr std::string_view kSystemFence = "fence.acq_rel.sys";
inline constexpr std::string_view kProxyFence = "fence.proxy.async";
inline constexpr std::string_view kSharedProxyFence = "fence.proxy.async.shared::cta";
inline constexpr std::string_view kAcknowledgedStore = "st.global:acknowledged";

[[nodiscard]] inline bool is_fence(std::string_view operation) {
    return operation == kGpuFence || operation == kSystemFence || operation == kProxyFence ||
           operation == kSharedProxyFence || operation == kAcknowledgedStore;
}

/// What the description says of fences. One of the block takes no longer than its stall count.
struct FenceSpec {
    bool described = false;   ///< otherwise a fence waits until all accesses of its warp have ended, and no longer
    double gpu = 0;           ///< cycles of MEMBAR of the GPU's scope, with nothing in flight
    double system = 0;        ///< the same of the system's scope
    double errors = 0;        ///< cycles of ERRBAR, which follows all of them but that of the asynchronous proxy
    double view = 0;          ///< cycles from the warp's last store to shared memory until bulk copies see it
    double acknowledged = 0;  ///< cycles from a store until a fence knows that it has reached the L2

    /// When a fence that issues at `now` lets its warp go on. `loaded` is when the warp's loads and atomics have ended,
    /// and `stored` when its last store has left the SM (0: it has none).
    [[nodiscard]] double end(double cycles, double now, double loaded, double stored) const {
        const double stores = stored > 0 ? std::max(now, stored + acknowledged) : now;
        return std::max(loaded, stores + cycles);
    }
};
[[nodiscard]] FenceSpec fence_spec_of(const machine::Machine& machine);

}  // namespace gputomo::costs
