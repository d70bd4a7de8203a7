#include "deduce/cache/policy/possible_states.hpp"

#include "deduce/cache/policy/policy_model.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::deduce::cache {
namespace {

/// States followed at once. With more of them every victim counts as possible: the sequence shows nothing any more.
constexpr std::size_t kMaxStates = 128;
/// Trees up to this number of ways are all tried. 8 ways have 315 trees, 16 ways have 638 million.
constexpr std::uint32_t kMaxTriedTreeWays = 8;

/// Policies whose model allows exactly the victims of the states that are possible (lru, fifo, random), and trees, of
/// which each one is a model.
class ModelStates : public PossibleStates {
public:
    explicit ModelStates(std::vector<std::unique_ptr<PolicyModel>> models) : models_(std::move(models)) {}
    std::unique_ptr<PossibleStates> clone() const override {
        std::vector<std::unique_ptr<PolicyModel>> models;
        for (const auto& model : models_) models.push_back(model->clone());
        return std::make_unique<ModelStates>(std::move(models));
    }
    void touch(std::uint32_t way) override {
        for (auto& model : models_) model->touch(way);
    }
    bool may_evict(std::uint32_t way) const override {
        return std::ranges::any_of(models_, [&](const auto& model) { return model->odds(way) > 0; });
    }
    void evict(std::uint32_t way) override {
        std::erase_if(models_, [&](const auto& model) { return model->odds(way) <= 0; });
        for (auto& model : models_) model->fill(way);
    }

private:
    std::vector<std::unique_ptr<PolicyModel>> models_;
};

/// By way: the ranks that it may have, one bit for each.
using RankBits = std::uint16_t;
using Ranks = std::vector<RankBits>;

constexpr RankBits kUsed = 1, kUnused = 2;

bool all_may_be(const Ranks& ranks, RankBits rank) {
    return std::ranges::all_of(ranks, [&](RankBits r) { return (r & rank) != 0; });
}

/// Ranks after an access, and the ways that were certainly as good victims as the one that was evicted.
struct Following {
    Ranks ranks;
    std::vector<bool> tied = {};
};

std::vector<bool> equal_to(const Ranks& ranks, RankBits rank, RankBits mask) {
    std::vector<bool> equal;
    for (const auto r : ranks) equal.push_back((r & mask) == rank);
    return equal;
}

/// A rule appends what may follow from one state. Unless the policy allows the access, nothing does.
struct PossibleNru {
    static constexpr RankBits kAny = kUsed | kUnused;
    static void touch(Ranks ranks, std::uint32_t way, std::vector<Following>& next) {
        ranks[way] = kUsed;
        next.push_back({std::move(ranks)});
    }
    static void evict(const Ranks& ranks, std::uint32_t way, std::vector<Following>& next) {
        if ((ranks[way] & kUnused) != 0) {
            touch(ranks, way, next);
            next.back().tied = equal_to(ranks, kUnused, kAny);
        }
        if (!all_may_be(ranks, kUsed)) return;
        touch(Ranks(ranks.size(), kUnused), way, next);
        next.back().tied.assign(ranks.size(), true);
    }
};

/// One way at least is unused at any time, because the use of the last one resets the bits of the others.
struct PossibleBitPlru {
    static constexpr RankBits kAny = kUsed | kUnused;
    static void touch(Ranks ranks, std::uint32_t way, std::vector<Following>& next) {
        const bool was_unused = (ranks[way] & kUnused) != 0;
        ranks[way] = kUsed;
        if (was_unused && all_may_be(ranks, kUsed)) {
            Ranks reset(ranks.size(), kUnused);
            reset[way] = kUsed;
            next.push_back({std::move(reset)});
        }
        const auto unused = [](RankBits r) { return (r & kUnused) != 0; };
        const auto count = std::ranges::count_if(ranks, unused);
        if (count == 0) return;
        if (count == 1) *std::ranges::find_if(ranks, unused) = kUnused;
        next.push_back({std::move(ranks)});
    }
    static void evict(Ranks ranks, std::uint32_t way, std::vector<Following>& next) {
        if ((ranks[way] & kUnused) == 0) return;
        ranks[way] = kUnused;
        const auto tied = equal_to(ranks, kUnused, kAny);
        const auto before = static_cast<std::ptrdiff_t>(next.size());
        touch(std::move(ranks), way, next);
        std::for_each(next.begin() + before, next.end(), [&](Following& f) { f.tied = tied; });
    }
};

template <bool bimodal>
struct PossibleRrip {
    static constexpr int kDistant = 3;
    static constexpr RankBits kAny = 15;
    static constexpr RankBits kInserted = bimodal ? 1 << kDistant | 1 << (kDistant - 1) : 1 << (kDistant - 1);
    static void touch(Ranks ranks, std::uint32_t way, std::vector<Following>& next) {
        ranks[way] = 1;
        next.push_back({std::move(ranks)});
    }
    static void evict(const Ranks& ranks, std::uint32_t way, std::vector<Following>& next) {
        for (int largest = 0; largest <= kDistant; ++largest) {
            const auto at_most = static_cast<RankBits>((2U << largest) - 1);
            if ((ranks[way] & 1U << largest) == 0 || !all_may_be(ranks, at_most)) continue;
            Ranks aged = ranks;
            for (auto& rank : aged) rank = static_cast<RankBits>((rank & at_most) << (kDistant - largest));
            aged[way] = kInserted;
            next.push_back({std::move(aged), equal_to(ranks, static_cast<RankBits>(1U << largest), at_most)});
        }
    }
};

/// What may follow from states, without repetitions. None stands for "too many": then everything is possible.
template <class State, class Follow>
std::vector<State> following(const std::vector<State>& states, const Follow& follow) {
    std::vector<State> next;
    for (const auto& state : states) {
        follow(state, next);
        if (next.size() > 4 * kMaxStates) return {};
    }
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    if (next.size() > kMaxStates) next.clear();
    return next;
}

/// Most ways whose order is followed.
constexpr std::uint32_t kMaxOrderedWays = 64;

/// The ranks of the ways and, where ways that tie are taken in a fixed order, what is known of the order.
struct RankState {
    Ranks ranks;
    std::vector<std::uint64_t> before;  ///< by way: the ways, one bit for each, that it goes before; empty: no order
    auto operator<=>(const RankState&) const = default;

    /// Whether the way may go before all others that tie. If so, it does from now on.
    bool goes_first(std::uint32_t way, const std::vector<bool>& tied) {
        for (std::uint32_t other = 0; other < before.size(); ++other) {
            if (other == way || !tied[other]) continue;
            if ((before[other] >> way & 1) != 0) return false;
            const std::uint64_t later = before[other] | std::uint64_t{1} << other;
            for (std::uint32_t earlier = 0; earlier < before.size(); ++earlier)
                if (earlier == way || (before[earlier] >> way & 1) != 0) before[earlier] |= later;
        }
        return true;
    }
};

template <class Rule>
class RankStates : public PossibleStates {
public:
    RankStates(std::uint32_t ways, Ties ties)
        : states_{{Ranks(ways, Rule::kAny),
                   std::vector<std::uint64_t>(ties == Ties::in_order && ways <= kMaxOrderedWays ? ways : 0, 0)}} {}
    std::unique_ptr<PossibleStates> clone() const override { return std::make_unique<RankStates>(*this); }
    void touch(std::uint32_t way) override {
        states_ = following(states_, [&](const RankState& state, auto& next) {
            std::vector<Following> touched;
            Rule::touch(state.ranks, way, touched);
            for (auto& f : touched) next.push_back({std::move(f.ranks), state.before});
        });
    }
    bool may_evict(std::uint32_t way) const override {
        std::vector<RankState> next;
        for (const auto& state : states_) {
            evict(state, way, next);
            if (!next.empty()) return true;
        }
        return states_.empty();
    }
    void evict(std::uint32_t way) override {
        states_ = following(states_, [&](const RankState& state, auto& next) { evict(state, way, next); });
    }

private:
    static void evict(const RankState& state, std::uint32_t way, std::vector<RankState>& next) {
        std::vector<Following> evicted;
        Rule::evict(state.ranks, way, evicted);
        for (auto& f : evicted) {
            RankState after{std::move(f.ranks), state.before};
            if (after.goes_first(way, f.tied)) next.push_back(std::move(after));
        }
    }
    std::vector<RankState> states_;
};

/// One state of segmented LRU. The segment `unknown` holds `protected_unknown` protected ways; its other ways are on
/// probation.
struct Segments {
    enum Segment : std::uint16_t { probation, guarded, unknown };
    std::vector<Segment> segment;
    std::vector<std::uint32_t> entered;  ///< by way: when it entered its segment; 0: before all others, in any order
    std::size_t protected_unknown = 0;
    auto operator<=>(const Segments&) const = default;

    [[nodiscard]] std::size_t count(Segment which) const {
        return static_cast<std::size_t>(std::ranges::count(segment, which));
    }
    void enter(std::uint32_t way, Segment which) {
        segment[way] = which;
        entered[way] = 0;
        const auto latest = *std::ranges::max_element(entered);
        entered[way] = latest + 1;
        // Only the order counts. Ranks instead of times make equal states equal.
        std::set<std::uint32_t> times(entered.begin(), entered.end());
        times.insert(0);
        for (auto& time : entered) time = static_cast<std::uint32_t>(std::distance(times.begin(), times.find(time)));
    }
    /// Unknown ways that are all in one segment are known.
    void settle() {
        const auto unknowns = count(unknown);
        if (protected_unknown != 0 && protected_unknown != unknowns) return;
        std::ranges::replace(segment, unknown, protected_unknown == 0 ? probation : guarded);
        protected_unknown = 0;
    }
    [[nodiscard]] bool may_evict(std::uint32_t way) const {
        if (segment[way] == guarded) return false;
        if (entered[way] == 0) return true;
        // Unknown ways are older, and not all of them are protected, or settle() had made them known.
        if (count(unknown) > 0) return false;
        for (std::size_t other = 0; other < segment.size(); ++other)
            if (segment[other] == probation && entered[other] < entered[way]) return false;
        return true;
    }
};

class SegmentStates : public PossibleStates {
public:
    explicit SegmentStates(std::uint32_t ways) {
        for (std::size_t guarded = 0; guarded <= ways / 2; ++guarded) {
            Segments state{std::vector<Segments::Segment>(ways, Segments::unknown), std::vector<std::uint32_t>(ways, 0),
                           guarded};
            state.settle();
            states_.push_back(std::move(state));
        }
    }
    std::unique_ptr<PossibleStates> clone() const override { return std::make_unique<SegmentStates>(*this); }
    void touch(std::uint32_t way) override {
        states_ = following(states_, [&](const Segments& state, auto& next) { touch(state, way, next); });
    }
    bool may_evict(std::uint32_t way) const override {
        return states_.empty() || std::ranges::any_of(states_, [&](const auto& state) { return state.may_evict(way); });
    }
    void evict(std::uint32_t way) override {
        states_ = following(states_, [&](const Segments& state, auto& next) {
            if (!state.may_evict(way)) return;
            Segments after = state;
            after.enter(way, Segments::probation);
            after.settle();
            next.push_back(std::move(after));
        });
    }

private:
    static void touch(const Segments& state, std::uint32_t way, std::vector<Segments>& next) {
        const bool open = state.segment[way] == Segments::unknown;
        if (!open || state.protected_unknown < state.count(Segments::unknown)) protect(state, way, 0, next);
        if (open && state.protected_unknown > 0) protect(state, way, 1, next);
    }
    /// `was_protected`: 1 if the way is one of the protected ways among the unknown ones.
    static void protect(Segments state, std::uint32_t way, std::size_t was_protected, std::vector<Segments>& next) {
        state.protected_unknown -= was_protected;
        state.enter(way, Segments::guarded);
        state.settle();
        if (state.count(Segments::guarded) + state.protected_unknown <= state.segment.size() / 2) {
            next.push_back(std::move(state));
            return;
        }
        std::uint32_t oldest = way;
        for (std::uint32_t other = 0; other < state.segment.size(); ++other)
            if (state.segment[other] == Segments::guarded && state.entered[other] < state.entered[oldest])
                oldest = other;
        for (std::uint32_t other = 0; other < state.segment.size(); ++other) {
            // Ways of before the first access are in any order; any of them may be the oldest.
            const bool from_pool = state.segment[other] == Segments::unknown;
            const bool is_oldest = state.segment[other] == Segments::guarded &&
                                   state.entered[other] == state.entered[oldest] && state.protected_unknown == 0;
            const bool is_old = state.segment[other] == Segments::guarded && state.entered[other] == 0;
            if (!from_pool && !is_oldest && !is_old) continue;
            Segments demoted = state;
            if (from_pool) --demoted.protected_unknown;
            demoted.enter(other, Segments::probation);
            demoted.settle();
            next.push_back(std::move(demoted));
        }
    }
    std::vector<Segments> states_;
};

/// The halves of a tree's root: a victim and the way used before it lie in different ones. For ways
/// of one group it is known whether they share a half.
class HalfStates : public PossibleStates {
public:
    explicit HalfStates(std::uint32_t ways) : group_(ways), other_half_(ways, false), last_(ways) {
        std::iota(group_.begin(), group_.end(), 0U);
    }
    std::unique_ptr<PossibleStates> clone() const override { return std::make_unique<HalfStates>(*this); }
    void touch(std::uint32_t way) override { last_ = way; }
    bool may_evict(std::uint32_t way) const override {
        return last_ == group_.size() || group_[way] != group_[last_] || other_half_[way] != other_half_[last_];
    }
    void evict(std::uint32_t way) override {
        if (last_ < group_.size() && group_[way] != group_[last_]) {
            const std::uint32_t joined = group_[way], to = group_[last_];
            const bool turn = other_half_[way] == other_half_[last_];
            for (std::size_t i = 0; i < group_.size(); ++i) {
                if (group_[i] != joined) continue;
                group_[i] = to;
                other_half_[i] = other_half_[i] != turn;
            }
        }
        last_ = way;
    }

private:
    std::vector<std::uint32_t> group_;
    std::vector<bool> other_half_;  ///< by way: which half it is in, compared with the other ways of its group
    std::uint32_t last_;            ///< the way used last; the number of ways before the first use
};

std::vector<std::uint32_t> ordered(const std::vector<std::uint32_t>& ways, const std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> result;
    for (const auto way : ways) result.push_back(order[way]);
    return result;
}

/// Halves of the same size may be exchanged without changing the tree. This order of the leaves stands for the tree if
/// the half with the smallest way comes first at each such node.
bool stands_for_tree(const WayTree& tree, const std::vector<std::uint32_t>& order) {
    return std::ranges::all_of(tree.nodes, [&](const WayTree::Node& node) {
        if (node.halves[0] < 0) return true;
        const auto& one = tree.nodes[static_cast<std::size_t>(node.halves[0])].ways;
        const auto& other = tree.nodes[static_cast<std::size_t>(node.halves[1])].ways;
        return one.size() != other.size() ||
               std::ranges::min(ordered(one, order)) < std::ranges::min(ordered(other, order));
    });
}

std::unique_ptr<PossibleStates> all_trees(std::uint32_t ways) {
    std::vector<std::uint32_t> order(ways);
    std::iota(order.begin(), order.end(), 0U);
    std::vector<std::unique_ptr<PolicyModel>> models;
    const WayTree plain = binary_tree(ways);
    do {
        if (!stands_for_tree(plain, order)) continue;
        WayTree tree = plain;
        for (auto& node : tree.nodes) node.ways = ordered(node.ways, order);
        models.push_back(make_tree_model(tree));
    } while (std::next_permutation(order.begin(), order.end()));
    return std::make_unique<ModelStates>(std::move(models));
}

}  // namespace

std::unique_ptr<PossibleStates> possible_states(std::string_view policy, std::uint32_t ways, Ties ties) {
    if (policy == "tree-plru") {
        if (ways > kMaxTriedTreeWays) return std::make_unique<HalfStates>(ways);
        return all_trees(ways);
    }
    if (policy == "nru") return std::make_unique<RankStates<PossibleNru>>(ways, ties);
    if (policy == "bit-plru") return std::make_unique<RankStates<PossibleBitPlru>>(ways, ties);
    if (policy == "srrip") return std::make_unique<RankStates<PossibleRrip<false>>>(ways, ties);
    if (policy == "brrip") return std::make_unique<RankStates<PossibleRrip<true>>>(ways, ties);
    if (policy == "slru") return std::make_unique<SegmentStates>(ways);
    std::vector<std::unique_ptr<PolicyModel>> model;
    model.push_back(make_model(policy, ways));
    return std::make_unique<ModelStates>(std::move(model));
}

}  // namespace gputomo::deduce::cache
