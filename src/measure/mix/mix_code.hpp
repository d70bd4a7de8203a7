// The code of a mix in one warp: its chains, their start, one loop iteration, and a checksum of their ends.
#pragma once

#include "measure/mix/linked_array.hpp"
#include "measure/mix/mix_shape.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::measure {

/// The kernel's argument `zero`. x + -0 is x for every number x, including zeros of both signs and denormals.
inline constexpr std::uint32_t kMixZero = 0x80000000;
/// The value 1.0F, which chains without pointers start with and keep.
inline constexpr std::uint32_t kMixOne = 0x3f800000;

/// Emits the code of one warp of a mix.
class MixCode {
public:
    MixCode(ptx::KernelBuilder& k, const MixShape& shape);

    /// `zero` (f32) holds kMixZero, which the compiler does not know.
    void start(const LineArguments& lines, ptx::Reg zero);
    /// Appends one loop iteration: the chains side by side, one instruction of each at a time. Accesses come last and
    /// hide the loop's own instructions.
    void append_iteration(ptx::Reg zero);
    /// The sum (u32) of the chains' last values.
    [[nodiscard]] ptx::Reg sum();
    /// The value of the last chain. Waiting for it means waiting for the start of all chains.
    [[nodiscard]] ptx::Reg last() const { return values_.back(); }

private:
    void append_access(std::size_t i, bool wide);
    void append_mma(std::size_t i);
    void start_in_shared();
    void start_at_lines(const LineArguments& lines);
    void start_factors(ptx::Reg zero);

    ptx::KernelBuilder& k_;
    MixShape shape_;
    std::vector<ptx::Reg> values_;     ///< b32, one for each chain
    std::vector<ptx::Reg> addresses_;  ///< b64, one for each chain if lines are read
    ptx::Reg upper_;                   ///< b32, upper half of all addresses
    ptx::Reg word_;                    ///< u32, an address in shared memory
    std::vector<ptx::Reg> sums_;       ///< b32, for MMA: three accumulators of each chain besides its value
    std::vector<ptx::Reg> factors_;    ///< b32, for MMA: factors that are zero, so that accumulators keep their values
};

}  // namespace gputomo::measure
