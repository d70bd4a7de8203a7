// The position of a chase in a kernel: the register that each load reads and replaces.
#pragma once

#include "measure/chase/pointer_chase.hpp"

#include <string_view>
#include <vector>

namespace gputomo::measure {

/// "ca", "cg", "volatile", "constant", "texture": part of a kernel's name.
[[nodiscard]] std::string_view short_name_of(LoadHint hint);

/// Emits the loads of a chase and keeps its position in a register.
class ChaseFollower {
public:
    /// `start` (u64) is where the first load goes. `texture` (u64) is used with LoadHint::texture only.
    ChaseFollower(ptx::KernelBuilder& k, LoadHint hint, ptx::Reg start, ptx::Reg texture);

    [[nodiscard]] ptx::Reg at() const { return at_; }
    void load();
    void store(const ptx::Mem& to);
    /// Copies the low half of the position.
    void low(ptx::Reg to);

private:
    ptx::KernelBuilder& k_;
    LoadHint hint_;
    ptx::Reg texture_;
    ptx::Reg at_;
    std::vector<ptx::Reg> rest_;  ///< further components that a texture fetch returns
};

}  // namespace gputomo::measure
