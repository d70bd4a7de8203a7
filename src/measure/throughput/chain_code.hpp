// Chains of dependent operations in a kernel: their registers, their steps and their initial values.
#pragma once

#include "measure/throughput/operations.hpp"

#include <map>
#include <optional>

namespace gputomo::measure {

/// The registers of one chain.
struct Chain {
    ptx::Reg even;
    ptx::Reg odd;
    std::map<char, ptx::Reg> scratch;  ///< by the letter of TimedOperation::code
};

/// Values that the chains of one kernel share and no compiler knows. They are `x`, `y` and the predicate `p` of
/// TimedOperation::code, and the address of the word `m` if an operation reads one.
struct SharedOperands {
    ptx::Reg x;
    ptx::Reg y;
    ptx::Reg p;
    std::optional<ptx::Reg> m;
};

/// Load `count` chains of an operation, or the shared operands, from the places of initial_operands() and
/// shared_values().
[[nodiscard]] std::vector<Chain> load_chains(ptx::KernelBuilder& kernel, const TimedOperation& operation, int count,
                                             ptx::Reg operands, int first = 0);
[[nodiscard]] SharedOperands load_shared(ptx::KernelBuilder& kernel, ptx::Reg operands);
/// Whether an operation's code has this operand.
[[nodiscard]] bool names(std::string_view code, char letter);
void store_chains(ptx::KernelBuilder& kernel, const TimedOperation& operation, std::span<const Chain> chains,
                  ptx::Reg results, int first = 0);

/// Appends step number `i` of a chain. Throws std::logic_error if the code names an unknown operand.
void append_step(ptx::KernelBuilder& kernel, const TimedOperation& operation, const Chain& chain,
                 const SharedOperands& shared, int i);

/// Bytes of a chain's operands, and of the shared operands before them.
inline constexpr std::int64_t kChainBytes = 16;
inline constexpr std::int64_t kSharedBytes = 16;

/// Initial values (u64 pairs of `even` and `odd`) with which a chain of any length meets no special case such as
/// overflow or NaN.
[[nodiscard]] std::vector<std::uint64_t> initial_operands(const TimedOperation& operation, int chains);
[[nodiscard]] std::vector<std::uint64_t> shared_values();

}  // namespace gputomo::measure
