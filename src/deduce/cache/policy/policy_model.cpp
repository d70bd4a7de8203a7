#include "deduce/cache/policy/policy_model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <deque>
#include <set>
#include <stdexcept>
#include <utility>

namespace gputomo::deduce {
namespace {

/// Replaces times by their ranks: states that differ only in absolute time become equal.
template <class Times>
std::vector<std::int64_t> order_of(const Times& times) {
    auto sorted = times;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::vector<std::int64_t> order;
    for (const auto time : times)
        order.push_back(std::lower_bound(sorted.begin(), sorted.end(), time) - sorted.begin());
    return order;
}

/// A policy that evicts one of the ways with the largest rank.
template <class Rule>
class Ranked : public PolicyModel {
public:
    explicit Ranked(std::uint32_t ways) : rank_(ways, Rule::kFresh) {}
    std::unique_ptr<PolicyModel> clone() const override { return std::make_unique<Ranked>(*this); }
    double odds(std::uint32_t way) const override {
        const auto most = *std::max_element(rank_.begin(), rank_.end());
        if (rank_[way] != most) return 0;
        const auto equal = static_cast<double>(std::count(rank_.begin(), rank_.end(), most));
        if (places_.empty() || equal == 1) return 1 / equal;
        for (std::uint32_t other = 0; other < rank_.size(); ++other)
            if (rank_[other] == most && places_[other] < places_[way]) return (1 - first()) / (equal - 1);
        return first();
    }
    bool ties() const override { return Rule::kStates; }
    void set_way_order(const std::vector<std::uint32_t>& places) override { places_ = places; }
    void touch(std::uint32_t way) override { Rule::touch(rank_, way); }
    void fill(std::uint32_t way) override {
        count_first(way);
        Rule::fill(rank_, way);
    }
    void randomize(std::mt19937_64& random) override {
        for (auto& rank : rank_) rank = Rule::any(random);
    }
    bool start_matters() const override { return Rule::kStates; }
    std::vector<std::int64_t> state() const override {
        if constexpr (Rule::kStates) return {rank_.begin(), rank_.end()};
        return order_of(rank_);
    }

private:
    /// The order of tied ways is read from a few evictions. Until more is seen it counts as right in nine of ten cases
    /// (`kFirst`), with the weight of two observations (`kSupposed`).
    static constexpr double kFirst = 0.9, kSupposed = 2;
    [[nodiscard]] double first() const { return (first_ + kFirst * kSupposed) / (tied_ + kSupposed); }
    void count_first(std::uint32_t way) {
        if (places_.empty()) return;
        const auto most = *std::max_element(rank_.begin(), rank_.end());
        if (rank_[way] != most || std::count(rank_.begin(), rank_.end(), most) == 1) return;
        bool first = true;
        for (std::uint32_t other = 0; other < rank_.size(); ++other)
            first = first && (rank_[other] != most || places_[other] >= places_[way]);
        tied_ += 1;
        first_ += first ? 1 : 0;
    }
    std::vector<std::int32_t> rank_;
    std::vector<std::uint32_t> places_;
    double tied_ = 0, first_ = 0;  ///< victims among several tied ways, and those of them that were first in the order
};

using Ranks = std::vector<std::int32_t>;

/// A rank counts the accesses since the way's last one. Ways that were never seen rank equally, above all others.
struct Oldest {
    static constexpr std::int32_t kFresh = 1 << 30;  ///< more than any trace has accesses
    static constexpr bool kStates = false;           ///< ranks are an order, in which no two used ways tie
    static std::int32_t any(std::mt19937_64&) { return kFresh; }
    static void renew(Ranks& ranks, std::uint32_t way) {
        for (auto& rank : ranks)
            if (rank < kFresh) ++rank;
        ranks[way] = 0;
    }
    static void fill(Ranks& ranks, std::uint32_t way) { renew(ranks, way); }
};
struct Lru : Oldest {
    static void touch(Ranks& ranks, std::uint32_t way) { renew(ranks, way); }
};
struct Fifo : Oldest {
    static void touch(Ranks&, std::uint32_t) {}
};

/// One bit per way: 1 not used, 0 used. Bit-PLRU resets the bits when all ways are used, NRU when it then needs a
/// victim.
struct UsedBits {
    static constexpr std::int32_t kFresh = 1;
    static constexpr bool kStates = true;  ///< ways tie, and a set may be in any state before the trace
    static std::int32_t any(std::mt19937_64& random) { return static_cast<std::int32_t>(random() % 2); }
    /// A used way was evicted: the bits were reset, either now or earlier if the model was not yet in the set's state.
    static void reset_late(Ranks& ranks, std::uint32_t way) {
        if (ranks[way] == 0) std::fill(ranks.begin(), ranks.end(), 1);
    }
    static bool all_used(const Ranks& ranks) { return std::find(ranks.begin(), ranks.end(), 1) == ranks.end(); }
};
struct BitPlru : UsedBits {
    static void touch(Ranks& ranks, std::uint32_t way) {
        ranks[way] = 0;
        if (!all_used(ranks)) return;
        std::fill(ranks.begin(), ranks.end(), 1);
        ranks[way] = 0;
    }
    static void fill(Ranks& ranks, std::uint32_t way) {
        reset_late(ranks, way);
        touch(ranks, way);
    }
};
struct Nru : UsedBits {
    static void touch(Ranks& ranks, std::uint32_t way) { ranks[way] = 0; }
    static void fill(Ranks& ranks, std::uint32_t way) {
        reset_late(ranks, way);
        ranks[way] = 0;
    }
};

/// RRIP with 2-bit re-reference intervals and hit priority (Jaleel 2010). Bimodal insertion is distant but for one
/// fill in 32, which shows only when another way is evicted than the model predicts.
template <bool bimodal>
struct Rrip {
    static constexpr std::int32_t kDistant = 3, kFresh = kDistant;  ///< the largest number of 2 bits
    static constexpr bool kStates = true;
    static std::int32_t any(std::mt19937_64& random) { return static_cast<std::int32_t>(random() % (kDistant + 1)); }
    static void touch(Ranks& ranks, std::uint32_t way) { ranks[way] = 0; }
    static void fill(Ranks& ranks, std::uint32_t way) {
        const std::int32_t aged = kDistant - ranks[way];
        for (auto& rank : ranks) rank = std::min(kDistant, rank + aged);
        ranks[way] = bimodal ? kDistant : kDistant - 1;
    }
};

/// Segmented LRU: lines enter on probation. A line used again becomes protected; at most half of the ways are, and the
/// one protected longest gives way. The oldest line on probation is the victim. Lines that entered their segment
/// before the trace are older than all others.
class SegmentedLru : public PolicyModel {
public:
    explicit SegmentedLru(std::uint32_t ways) : protected_(ways, false), used_(ways, 0) {}
    std::unique_ptr<PolicyModel> clone() const override { return std::make_unique<SegmentedLru>(*this); }
    double odds(std::uint32_t way) const override {
        if (protected_[way]) return 0;
        double equal = 0;
        for (std::size_t other = 0; other < used_.size(); ++other) {
            if (protected_[other]) continue;
            if (used_[other] < used_[way]) return 0;
            equal += used_[other] == used_[way] ? 1 : 0;
        }
        return 1 / equal;
    }
    void touch(std::uint32_t way) override {
        protected_[way] = true;
        used_[way] = ++now_;
        demote();
    }
    void fill(std::uint32_t way) override {
        protected_[way] = false;
        used_[way] = ++now_;
    }
    void randomize(std::mt19937_64& random) override {
        for (std::size_t i = 0; i < protected_.size() / 2; ++i) protected_[random() % protected_.size()] = true;
    }
    bool start_matters() const override { return true; }
    std::vector<std::int64_t> state() const override {
        auto state = order_of(used_);
        state.insert(state.end(), protected_.begin(), protected_.end());
        return state;
    }

private:
    void demote() {
        if (static_cast<std::size_t>(std::count(protected_.begin(), protected_.end(), true)) <= protected_.size() / 2)
            return;
        std::size_t oldest = protected_.size();
        for (std::size_t way = 0; way < protected_.size(); ++way)
            if (protected_[way] && (oldest == protected_.size() || used_[way] < used_[oldest])) oldest = way;
        protected_[oldest] = false;
        used_[oldest] = ++now_;
    }
    std::vector<bool> protected_;
    std::vector<std::uint64_t> used_;  ///< time when a way entered its segment; 0: before the trace
    std::uint64_t now_ = 0;
};

class WayOdds : public PolicyModel {
public:
    explicit WayOdds(std::vector<double> odds) : odds_(std::move(odds)) {}
    std::unique_ptr<PolicyModel> clone() const override { return std::make_unique<WayOdds>(*this); }
    double odds(std::uint32_t way) const override { return odds_[way]; }
    void touch(std::uint32_t) override {}
    void fill(std::uint32_t) override {}
    void randomize(std::mt19937_64&) override {}
    bool start_matters() const override { return false; }
    bool interchangeable(std::uint32_t way, std::uint32_t other) const override { return odds_[way] == odds_[other]; }
    std::vector<std::int64_t> state() const override { return {}; }

private:
    std::vector<double> odds_;
};

class TreePlru : public PolicyModel {
public:
    explicit TreePlru(const WayTree& tree)
        : tree_(std::make_shared<const WayTree>(tree)),
          path_(std::make_shared<const Paths>(paths_of(tree))),
          last_(tree.nodes.size(), kUnknown) {}
    std::unique_ptr<PolicyModel> clone() const override { return std::make_unique<TreePlru>(*this); }
    double odds(std::uint32_t way) const override {
        double odds = 1;
        std::size_t node = 0;
        for (const auto& [at, half] : (*path_)[way]) {
            odds *= last_[at] == kUnknown ? 0.5 : last_[at] == half ? 0 : 1;
            node = static_cast<std::size_t>(tree_->nodes[at].halves[half]);
        }
        return odds / static_cast<double>(tree_->nodes[node].ways.size());
    }
    void touch(std::uint32_t way) override {
        for (const auto& [at, half] : (*path_)[way]) last_[at] = half;
    }
    void fill(std::uint32_t way) override { touch(way); }
    void randomize(std::mt19937_64&) override {}
    bool start_matters() const override { return false; }
    std::vector<std::int64_t> state() const override { return {last_.begin(), last_.end()}; }

private:
    static constexpr int kUnknown = -1;
    struct Step {
        std::size_t node = 0;
        int half = 0;
    };
    using Paths = std::vector<std::vector<Step>>;
    static Paths paths_of(const WayTree& tree) {
        Paths paths(tree.nodes.front().ways.size());
        for (std::size_t n = 0; n < tree.nodes.size(); ++n)
            for (int half = 0; half < 2 && tree.nodes[n].halves[0] >= 0; ++half)
                for (const auto way : tree.nodes[static_cast<std::size_t>(tree.nodes[n].halves[half])].ways)
                    paths[way].push_back({n, half});
        return paths;
    }
    std::shared_ptr<const WayTree> tree_;
    std::shared_ptr<const Paths> path_;  ///< by way, from the root
    std::vector<int> last_;              ///< by node: the half used last
};

struct Candidate {
    std::string_view name;
    std::unique_ptr<PolicyModel> (*make)(std::uint32_t ways);
};

template <class Rule>
std::unique_ptr<PolicyModel> ranked(std::uint32_t ways) {
    return std::make_unique<Ranked<Rule>>(ways);
}
std::unique_ptr<PolicyModel> segmented(std::uint32_t ways) { return std::make_unique<SegmentedLru>(ways); }
std::unique_ptr<PolicyModel> even(std::uint32_t ways) { return make_odds_model(std::vector<double>(ways, 1.0 / ways)); }

constexpr Candidate kCandidates[] = {
    {"lru", ranked<Lru>},           {"fifo", ranked<Fifo>},        {"bit-plru", ranked<BitPlru>}, {"nru", ranked<Nru>},
    {"srrip", ranked<Rrip<false>>}, {"brrip", ranked<Rrip<true>>}, {"slru", segmented},           {"random", even},
};

constexpr auto kNames = [] {
    std::array<std::string_view, std::size(kCandidates)> names;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = kCandidates[i].name;
    return names;
}();

/// Policies are compared for up to `kMaxComparedWays` ways and `kMaxPairs` pairs of states. Larger sets have too many
/// states to visit in a fraction of a second.
constexpr std::uint32_t kMaxComparedWays = 8;
constexpr std::size_t kMaxPairs = 20'000;

/// Adds the node above the `leaves` leaves from `first` on. Returns its index.
int add_node(WayTree& tree, std::uint32_t first, std::uint32_t leaves, std::uint32_t ways) {
    if (leaves > 1 && first + leaves / 2 >= ways) return add_node(tree, first, leaves / 2, ways);
    const auto index = tree.nodes.size();
    tree.nodes.push_back({});
    for (std::uint32_t way = first; way < std::min(first + leaves, ways); ++way) tree.nodes[index].ways.push_back(way);
    for (std::uint32_t half = 0; half < 2 && leaves > 1; ++half) {
        const int below = add_node(tree, first + half * leaves / 2, leaves / 2, ways);
        tree.nodes[index].halves[half] = below;
    }
    return static_cast<int>(index);
}

std::unique_ptr<PolicyModel> make_any(std::string_view policy, std::uint32_t ways) {
    return policy == "tree-plru" ? make_tree_model(binary_tree(ways)) : make_model(policy, ways);
}

using Pair = std::pair<std::unique_ptr<PolicyModel>, std::unique_ptr<PolicyModel>>;

bool differ(const Pair& pair, std::uint32_t way) {
    return std::abs(pair.first->odds(way) - pair.second->odds(way)) > 1e-9;
}

void use(Pair& pair, std::uint32_t way, bool evicted) {
    evicted ? pair.first->fill(way) : pair.first->touch(way);
    evicted ? pair.second->fill(way) : pair.second->touch(way);
}

/// Whether some random uses show a difference. They show nearly all differences, much sooner than a visit of all
/// states.
bool differ_at_random(std::string_view a, std::string_view b, std::uint32_t ways) {
    // A chosen value: fewer leave more pairs of policies to the slower visit of all states.
    constexpr std::uint32_t kUsesPerWay = 64;
    std::mt19937_64 random(1);
    Pair pair{make_any(a, ways), make_any(b, ways)};
    for (std::uint32_t i = 0; i < kUsesPerWay * ways; ++i) {
        for (std::uint32_t way = 0; way < ways; ++way)
            if (differ(pair, way)) return true;
        const auto way = static_cast<std::uint32_t>(random() % ways);
        use(pair, way, pair.first->odds(way) > 0 && random() % 2 == 0);
    }
    return false;
}

}  // namespace

std::span<const std::string_view> candidate_policies() { return kNames; }

std::unique_ptr<PolicyModel> make_model(std::string_view policy, std::uint32_t ways) {
    for (const auto& candidate : kCandidates)
        if (candidate.name == policy) return candidate.make(ways);
    throw std::invalid_argument("no such candidate policy");
}

std::unique_ptr<PolicyModel> make_odds_model(std::vector<double> odds) {
    return std::make_unique<WayOdds>(std::move(odds));
}
std::unique_ptr<PolicyModel> make_tree_model(const WayTree& tree) { return std::make_unique<TreePlru>(tree); }

WayTree binary_tree(std::uint32_t ways) {
    WayTree tree;
    add_node(tree, 0, std::bit_ceil(ways), ways);
    return tree;
}

bool equivalent_policies(std::string_view a, std::string_view b, std::uint32_t ways) {
    if (a == b) return true;
    if (ways > kMaxComparedWays || differ_at_random(a, b, ways)) return false;
    std::set<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>> visited;
    std::deque<Pair> open;
    const auto visit = [&](Pair pair) {
        if (visited.emplace(pair.first->state(), pair.second->state()).second) open.push_back(std::move(pair));
    };
    for (visit({make_any(a, ways), make_any(b, ways)}); !open.empty() && visited.size() < kMaxPairs; open.pop_front()) {
        const auto& [one, other] = open.front();
        for (std::uint32_t way = 0; way < ways; ++way) {
            if (differ(open.front(), way)) return false;
            for (const bool evicted : {false, true}) {
                if (evicted && one->odds(way) == 0) continue;
                Pair next{one->clone(), other->clone()};
                use(next, way, evicted);
                visit(std::move(next));
            }
        }
    }
    return open.empty();
}

}  // namespace gputomo::deduce
