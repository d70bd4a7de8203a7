// Models of replacement policies on one full set: with which probability each way is the next victim.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace gputomo::deduce {

/// State of one policy on a full set. Ways have no known order. Where a policy would choose one of several ways by its
/// position, all of them have equal odds until set_way_order() says which goes first.
class PolicyModel {
public:
    virtual ~PolicyModel() = default;
    [[nodiscard]] virtual std::unique_ptr<PolicyModel> clone() const = 0;
    /// Probability that this way is the next victim; over all ways it sums to 1.
    [[nodiscard]] virtual double odds(std::uint32_t way) const = 0;
    /// The way's line was loaded.
    virtual void touch(std::uint32_t way) = 0;
    /// The way was the victim and holds another line now.
    virtual void fill(std::uint32_t way) = 0;
    /// Whether several ways can be equally good victims because of the policy's state, so that their order may decide.
    [[nodiscard]] virtual bool ties() const { return false; }
    /// Among ways that tie, the one with the smallest place goes first, nearly always. `places`: one for each way.
    virtual void set_way_order(const std::vector<std::uint32_t>& /*places*/) {}
    /// Enters a random one of the states that the set may be in before the first observed access.
    virtual void randomize(std::mt19937_64& random) = 0;
    /// Whether randomize() changes anything.
    [[nodiscard]] virtual bool start_matters() const = 0;
    /// Whether it never matters which of two ways a line is in.
    [[nodiscard]] virtual bool interchangeable(std::uint32_t way, std::uint32_t other) const { return way == other; }
    /// What the next victims depend on: models of one policy in the same state behave the same from then on.
    [[nodiscard]] virtual std::vector<std::int64_t> state() const = 0;
};

/// Names of the policies whose state follows from the accesses (lru, fifo, bit-plru, nru, srrip, brrip, slru), and
/// random.
[[nodiscard]] std::span<const std::string_view> candidate_policies();
/// Throws std::invalid_argument for a name that candidate_policies() does not contain.
[[nodiscard]] std::unique_ptr<PolicyModel> make_model(std::string_view policy, std::uint32_t ways);
/// A set that evicts each way with its own fixed probability.
[[nodiscard]] std::unique_ptr<PolicyModel> make_odds_model(std::vector<double> odds);

/// A pseudo-LRU tree: each node's bit points away from the half that was used last. A node's halves are other nodes, or
/// the node is a leaf that holds one way, or several ways whose order is not known.
struct WayTree {
    struct Node {
        std::vector<std::uint32_t> ways;  ///< all ways below the node
        int halves[2] = {-1, -1};         ///< indices of nodes; -1: a leaf
    };
    std::vector<Node> nodes;  ///< the first is the root
};
[[nodiscard]] std::unique_ptr<PolicyModel> make_tree_model(const WayTree& tree);
/// The tree over the next power of two leaves with the ways in ascending order. Branches without ways are left out.
[[nodiscard]] WayTree binary_tree(std::uint32_t ways);

/// Whether two policies ("tree-plru" among them) evict the same in every set of `ways` ways. From a set about which
/// nothing is known, all pairs of states are visited that uses and evictions lead to. In each pair every way must have
/// the same odds. False also for more than 8 ways or more than 20000 pairs of states.
[[nodiscard]] bool equivalent_policies(std::string_view a, std::string_view b, std::uint32_t ways);

}  // namespace gputomo::deduce
