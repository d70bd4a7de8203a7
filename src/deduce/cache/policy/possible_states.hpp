// All states in which a set may be under one policy, given some of its accesses: what the policy can never have done.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace gputomo::deduce::cache {

/// How a policy chooses among ways that are equally good victims. `any`: each time any of them. `in_order`: the first
/// one in an order of the ways that never changes and is not known.
enum class Ties : std::uint8_t { any, in_order };

/// The states of one full set that are possible after the accesses so far. Before the first access nothing is known.
/// The states are never fewer than the
/// possible ones, so that a victim which may_evict() denies is impossible.
class PossibleStates {
public:
    virtual ~PossibleStates() = default;
    [[nodiscard]] virtual std::unique_ptr<PossibleStates> clone() const = 0;
    /// The way's line was loaded.
    virtual void touch(std::uint32_t way) = 0;
    /// Whether the way can be the next victim.
    [[nodiscard]] virtual bool may_evict(std::uint32_t way) const = 0;
    /// The way was the victim and holds another line now. It may_evict().
    virtual void evict(std::uint32_t way) = 0;
};

/// `policy`: one of candidate_policies(), or "tree-plru". Throws std::invalid_argument for another name. Up to 8 ways
/// all trees are tried. A larger tree counts only by the
/// two halves below its root.
[[nodiscard]] std::unique_ptr<PossibleStates> possible_states(std::string_view policy, std::uint32_t ways,
                                                              Ties ties = Ties::any);

}  // namespace gputomo::deduce::cache
