// Warps of one block that each execute one kind of instruction, all kinds at once: what an SM issues if no warp
// alternates between units.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <array>
#include <cstdint>

namespace gputomo::measure {

/// Instructions of one SM per cycle.
struct SaturatedIssueRates {
    double adds = 0, functions = 0, shared_loads = 0, global_loads = 0;
    double loops = 0;  ///< the loops' own instructions
    [[nodiscard]] double units() const { return adds + functions + shared_loads; }
    [[nodiscard]] double all() const { return units() + global_loads + loops; }
};

/// One block on one SM, as large as possible, for a window of time. Each scheduler has warps that add, warps that
/// compute special functions and warps that load from shared memory, in kChains independent chains each. Up to half of
/// its warps load from global memory.
class SaturatedIssue {
public:
    /// `schedulers`: number of an SM's schedulers, to which warps are assigned in turn.
    SaturatedIssue(device::Device& device, int schedulers);

    /// Whether each scheduler has a warp of each kind.
    [[nodiscard]] bool fits() const { return warps_ >= kKinds * schedulers_; }
    /// With the loads from global memory, or without their warps.
    [[nodiscard]] SaturatedIssueRates rates(bool global_loads);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

    /// Kinds of instruction, and independent chains of a warp. With several chains few warps fill a unit.
    static constexpr int kKinds = 4, kChains = 4;
    /// Instructions of a loop iteration, all chains together.
    static constexpr int kLoopLength = 192;

private:
    CompiledKernel kernel_;
    int schedulers_;
    int warps_ = 1;
    device::Buffer records_, line_, roles_;
};

/// Arguments: records (u64), line (u64, a word for each lane), roles (u64), window (u32, cycles), seed (f32). `roles`
/// holds a number for each warp: 0 to 3 for the kinds; with any other number the warp ends at once.
[[nodiscard]] ptx::KernelBuilder saturated_issue_kernel(ptx::Target target);

}  // namespace gputomo::measure
