// The code of a mix in one warp: its chains, how they begin, a turn of them, and what is left at the end.
#pragma once

#include "measure/mix/linked_array.hpp"
#include "measure/mix/mix_shape.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::measure {

/// x + -0 is x for every x that is a number, zeros of both signs and denormal ones included. The kernel's argument
/// `zero`.
inline constexpr std::uint32_t kMixZero = 0x80000000;
/// What chains without pointers start at and keep: 1.
inline constexpr std::uint32_t kMixOne = 0x3f800000;

class MixCode {
public:
    MixCode(ptx::KernelBuilder& k, const MixShape& shape);

    /// `zero` (f32) is kMixZero, which the compiler does not know.
    void start(const LineArguments& lines, ptx::Reg zero);
    /// The chains side by side, one instruction of each at a time. Accesses come last: what the loop costs is hidden
    /// behind them.
    void append_iteration(ptx::Reg zero);
    /// Of what the chains end with (u32).
    [[nodiscard]] ptx::Reg sum();
    /// Of the last chain: who waits for it waits for the start.
    [[nodiscard]] ptx::Reg last() const { return values_.back(); }

private:
    void append_access(std::size_t i, bool wide);
    void append_product(std::size_t i);
    void start_in_shared();
    void start_at_lines(const LineArguments& lines);
    void start_products(ptx::Reg zero);

    ptx::KernelBuilder& k_;
    MixShape shape_;
    std::vector<ptx::Reg> values_;     ///< b32, of each chain
    std::vector<ptx::Reg> addresses_;  ///< b64, where lines are read
    ptx::Reg upper_;                   ///< b32, of all addresses
    ptx::Reg word_;                    ///< u32, an address in shared memory
    std::vector<ptx::Reg> sums_;       ///< b32, of products of matrices: three of each chain besides its value
    std::vector<ptx::Reg> factors_;    ///< b32, of matrices of zeros: products leave sums as they are
};

}  // namespace gputomo::measure
