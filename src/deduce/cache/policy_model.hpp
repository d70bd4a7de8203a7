// Candidate replacement policies on one full set: which way each of them would evict next.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace gputomo::deduce {

/// State of one policy on a full set. Ways are numbered in no particular order: where a policy would choose one of
/// several ways by its place, all of them have equal odds until prefer() says which comes first.
class PolicyModel {
public:
    virtual ~PolicyModel() = default;
    [[nodiscard]] virtual std::unique_ptr<PolicyModel> clone() const = 0;
    /// Probability that this way is the next victim.
    [[nodiscard]] virtual double odds(std::uint32_t way) const = 0;
    virtual void touch(std::uint32_t way) = 0;
    /// The way was the victim and holds another line now.
    virtual void fill(std::uint32_t way) = 0;
    /// Whether several ways can be equally good victims for reasons of state, so that their places may decide.
    [[nodiscard]] virtual bool ties() const { return false; }
    /// Of ways that tie, the one with the smallest place goes first, nearly always; one place for each way.
    virtual void set_way_order(const std::vector<std::uint32_t>& /*places*/) {}
    /// Some state that the set may be in before anything is known.
    virtual void randomize(std::mt19937_64& random) = 0;
    /// Whether scramble() changes anything.
    [[nodiscard]] virtual bool start_matters() const = 0;
    /// Whether it never matters which of two ways a line is in.
    [[nodiscard]] virtual bool interchangeable(std::uint32_t way, std::uint32_t other) const { return way == other; }
    /// What the next victims depend on: models of one policy whose states are the same behave the same from now on.
    [[nodiscard]] virtual std::vector<std::int64_t> state() const = 0;
};

/// Policies whose state follows from the accesses: lru, fifo, bit-plru, nru, srrip, brrip, slru; and random.
[[nodiscard]] std::span<const std::string_view> candidate_policies();
/// Throws std::invalid_argument for a name that candidate_policies() does not have.
[[nodiscard]] std::unique_ptr<PolicyModel> make_model(std::string_view policy, std::uint32_t ways);
/// Each way with its own odds.
[[nodiscard]] std::unique_ptr<PolicyModel> make_odds_model(std::vector<double> odds);

/// A tree of bits that point away from the last use. A node's halves are other nodes, or leaves that hold one or
/// several ways whose order is not known.
struct WayTree {
    struct Node {
        std::vector<std::uint32_t> ways;  ///< below it
        int halves[2] = {-1, -1};         ///< indices of nodes; -1: a leaf
    };
    std::vector<Node> nodes;  ///< the first is the root
};
[[nodiscard]] std::unique_ptr<PolicyModel> make_tree_model(const WayTree& tree);
/// The tree over the next power of two leaves, the ways in their order; branches without ways are left out.
[[nodiscard]] WayTree binary_tree(std::uint32_t ways);

/// Whether two policies ("tree-plru" among them) are one machine in sets of so many ways: from a set that nothing is
/// known of, all pairs of states are visited that uses of any way and evictions of any victim lead to, and in each pair
/// every way has the same odds. False also for more than 8 ways, or more pairs than are worth visiting.
[[nodiscard]] bool equivalent_policies(std::string_view a, std::string_view b, std::uint32_t ways);

}  // namespace gputomo::deduce
