// Chains of dependent operations in a kernel: their registers, their steps, and the values they start from.
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

/// Values that chains of one kernel share and no compiler knows: `x` and `y` of TimedOperation::code, the predicate
/// `p`, and the address of the word `m`, where an operation reads one.
struct SharedOperands {
    ptx::Reg x;
    ptx::Reg y;
    ptx::Reg p;
    std::optional<ptx::Reg> m;
};

/// Reads `count` chains of an operation, or shared operands, from where initial_operands() and shared_values() put
/// them.
[[nodiscard]] std::vector<Chain> load_chains(ptx::KernelBuilder& kernel, const TimedOperation& operation, int count,
                                             ptx::Reg operands, int first = 0);
[[nodiscard]] SharedOperands load_shared(ptx::KernelBuilder& kernel, ptx::Reg operands);
/// Whether an operation's code has this operand.
[[nodiscard]] bool names(std::string_view code, char letter);
void store_chains(ptx::KernelBuilder& kernel, const TimedOperation& operation, std::span<const Chain> chains,
                  ptx::Reg results, int first = 0);

/// Appends step number `i` of a chain. Throws std::logic_error for a code that names an operand that there is none of.
void append_step(ptx::KernelBuilder& kernel, const TimedOperation& operation, const Chain& chain,
                 const SharedOperands& shared, int i);

/// Bytes of a chain's operands, and of those that are shared, which lie before them.
inline constexpr std::int64_t kChainBytes = 16;
inline constexpr std::int64_t kSharedBytes = 16;

/// Bits of operands that keep a chain of any length from doing anything special: u64 pairs of `even` and `odd`.
[[nodiscard]] std::vector<std::uint64_t> initial_operands(const TimedOperation& operation, int chains);
[[nodiscard]] std::vector<std::uint64_t> shared_values();

}  // namespace gputomo::measure
