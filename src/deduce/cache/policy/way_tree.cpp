#include "deduce/cache/policy/way_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

namespace gputomo::deduce::cache {
namespace {

/// A tree whose splits contradict more than 15% of the victims is not accepted. Outliers contradict some splits of a
/// right tree; a wrong tree contradicts many.
constexpr double kMaxViolations = 0.15;

/// Ways that are connected by "not in the same half", each with its side.
class Sides {
public:
    explicit Sides(std::uint32_t ways) : parent_(ways), side_(ways, 0) {
        std::iota(parent_.begin(), parent_.end(), 0U);
    }
    std::pair<std::uint32_t, int> find(std::uint32_t way) const {
        int side = 0;
        while (parent_[way] != way) {
            side ^= side_[way];
            way = parent_[way];
        }
        return {way, side};
    }
    /// Returns false if both ways are on the same side already.
    bool part(std::uint32_t a, std::uint32_t b) {
        const auto [root_a, side_a] = find(a);
        const auto [root_b, side_b] = find(b);
        if (root_a == root_b) return side_a != side_b;
        parent_[root_b] = root_a;
        side_[root_b] = side_a ^ side_b ^ 1;
        return true;
    }

private:
    std::vector<std::uint32_t> parent_;
    std::vector<int> side_;
};

/// Splits a node's ways into the two halves that the victims show. Returns false if they show none.
bool split(const std::vector<Step>& steps, std::uint32_t ways, const std::vector<std::uint32_t>& node,
           std::vector<std::uint32_t> (&halves)[2]) {
    constexpr std::uint32_t kNone = ~0U;  // no way
    std::vector<bool> member(ways, false);
    for (const auto way : node) member[way] = true;
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> together;
    std::uint32_t last = kNone;
    for (const auto& step : steps) {
        if (!member[step.way]) continue;
        if (step.evicted && last != kNone) ++together[std::minmax(last, step.way)];
        last = step.way;
    }
    std::vector<std::pair<int, std::pair<std::uint32_t, std::uint32_t>>> pairs;
    for (const auto& [pair, count] : together) pairs.emplace_back(count, pair);
    std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    Sides sides(ways);
    int violated = 0, total = 0;
    for (const auto& [count, pair] : pairs) {
        total += count;
        if (!sides.part(pair.first, pair.second)) violated += count;
    }
    if (total == 0 || violated > kMaxViolations * total) return false;
    const auto root = sides.find(node.front()).first;
    for (const auto way : node) {
        const auto [its_root, side] = sides.find(way);
        if (its_root != root) return false;
        halves[side].push_back(way);
    }
    return !halves[0].empty() && !halves[1].empty();
}

WayTree tree_of_splits(const std::vector<Step>& steps, std::uint32_t ways) {
    WayTree tree;
    tree.nodes.push_back({});
    tree.nodes[0].ways.resize(ways);
    std::iota(tree.nodes[0].ways.begin(), tree.nodes[0].ways.end(), 0U);
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
        std::vector<std::uint32_t> halves[2];
        if (tree.nodes[n].ways.size() < 2 || !split(steps, ways, tree.nodes[n].ways, halves)) continue;
        for (int half = 0; half < 2; ++half) {
            tree.nodes[n].halves[half] = static_cast<int>(tree.nodes.size());
            tree.nodes.push_back({halves[half], {-1, -1}});
        }
    }
    return tree;
}

/// Counts, for each pair of a node's ways, how often one was the victim when the other had been used last: then they
/// are in different halves.
class SeparatedPairs {
public:
    SeparatedPairs(const std::vector<Step>& steps, std::uint32_t ways, const std::vector<std::uint32_t>& node)
        : count_(node.size(), 0) {
        constexpr std::uint32_t kNone = ~0U;
        std::vector<std::uint32_t> place(ways, kNone);
        for (std::uint32_t i = 0; i < node.size(); ++i) place[node[i]] = i;
        times_.assign(node.size() * node.size(), 0);
        std::uint32_t last = kNone;
        for (const auto& step : steps) {
            const std::uint32_t now = place[step.way];
            if (now == kNone) continue;
            if (step.evicted && last != kNone && last != now) add(last, now);
            last = now;
        }
    }
    [[nodiscard]] int times(std::size_t a, std::size_t b) const { return times_[a * count_.size() + b]; }
    [[nodiscard]] int of(std::size_t a) const { return count_[a]; }
    [[nodiscard]] int all() const { return all_; }
    /// Mean count of the pairs that are to be separated.
    [[nodiscard]] double mean_times() const {
        const auto pairs = std::ranges::count_if(times_, [](int times) { return times > 0; }) / 2;
        return pairs == 0 ? 1 : static_cast<double>(all_) / static_cast<double>(pairs);
    }
    [[nodiscard]] std::size_t size() const { return count_.size(); }

private:
    void add(std::uint32_t a, std::uint32_t b) {
        ++times_[a * count_.size() + b];
        ++times_[b * count_.size() + a];
        ++count_[a], ++count_[b], ++all_;
    }
    std::vector<int> times_, count_;
    int all_ = 0;
};

/// Two halves of given sizes that separate as many of those pairs as possible, by simulated annealing (Kirkpatrick
/// 1983).
class Bisection {
public:
    Bisection(const SeparatedPairs& pairs, std::size_t first, std::mt19937_64& random)
        : pairs_(pairs), side_(pairs.size(), 1), same_(pairs.size(), 0), random_(random) {
        std::fill(side_.begin(), side_.begin() + static_cast<std::ptrdiff_t>(first), 0);
        std::shuffle(side_.begin(), side_.end(), random_);
        for (std::size_t a = 0; a < side_.size(); ++a)
            for (std::size_t b = 0; b < side_.size(); ++b) same_[a] += side_[a] == side_[b] ? pairs_.times(a, b) : 0;
        together_ = std::accumulate(same_.begin(), same_.end(), 0) / 2;
    }
    void anneal() {
        // At first an exchange that costs two usual pairs is accepted in a third of the tries. In the end, one that
        // costs a single pair is accepted once in 22,000 tries.
        const double hot = 2 * pairs_.mean_times(), cold = 0.1 * pairs_.mean_times();
        const std::size_t tries = kTriesPerWay * side_.size();
        for (std::size_t i = 0; i < tries && together_ > 0; ++i) {
            const std::size_t a = random_() % side_.size(), b = random_() % side_.size();
            if (side_[a] == side_[b]) continue;
            // Change of the pairs left together if both ways change sides. A pair of the two themselves stays
            // separated.
            const int worse = pairs_.of(a) + pairs_.of(b) - 2 * (same_[a] + same_[b] + pairs_.times(a, b));
            const double heat = hot + (cold - hot) * static_cast<double>(i) / static_cast<double>(tries);
            if (worse <= 0 || static_cast<double>(random_() >> 11) * 0x1p-53 < std::exp(-worse / heat))
                exchange(a, b, worse);
        }
    }
    [[nodiscard]] int together() const { return together_; }
    [[nodiscard]] int side(std::size_t i) const { return side_[i]; }

private:
    /// Exchanges that are tried for each way while the heat falls. Fewer end in halves that separate fewer pairs; more
    /// take time in proportion.
    static constexpr std::size_t kTriesPerWay = 300;
    void exchange(std::size_t a, std::size_t b, int worse) {
        for (const std::size_t moved : {a, b}) {
            for (std::size_t i = 0; i < side_.size(); ++i)
                if (i != moved) same_[i] += (side_[i] == side_[moved] ? -1 : 1) * pairs_.times(i, moved);
            same_[moved] = pairs_.of(moved) - same_[moved];
            side_[moved] ^= 1;
        }
        together_ += worse;
    }
    const SeparatedPairs& pairs_;
    std::vector<int> side_, same_;  ///< same_: by way, its pairs with ways of its own half
    int together_ = 0;
    std::mt19937_64& random_;
};

/// Fits the order of the ways as the leaves of a hardware tree: over the next power of two, the first half full.
class LeafOrder {
public:
    LeafOrder(const std::vector<Step>& steps, std::uint32_t ways) : steps_(steps), ways_(ways) {
        std::vector<std::uint32_t> all(ways);
        std::iota(all.begin(), all.end(), 0U);
        known_ = place(all);
    }
    /// Whether the halves of the root explain nearly all victims.
    [[nodiscard]] bool known() const { return known_; }
    [[nodiscard]] WayTree tree() const {
        auto tree = binary_tree(ways_);
        for (auto& node : tree.nodes)
            for (auto& way : node.ways) way = order_[way];
        return tree;
    }

private:
    /// Random starts, of which the best halves count. More take time in proportion; with a single one, annealing that
    /// ends badly leaves the tree unknown.
    static constexpr int kStarts = 3;
    /// Needed victims are this many times ways * ln(ways). With fewer, halves explain the victims that they were found
    /// from and no others.
    static constexpr double kVictims = 0.75;
    bool place(const std::vector<std::uint32_t>& node) {
        if (node.size() < 2) {
            order_.insert(order_.end(), node.begin(), node.end());
            return true;
        }
        const SeparatedPairs pairs(steps_, ways_, node);
        if (node.size() == ways_ && pairs.all() < kVictims * ways_ * std::log(ways_)) return false;
        std::optional<Bisection> best;
        for (int start = 0; start < kStarts && (!best || best->together() > 0); ++start) {
            Bisection bisection(pairs, std::bit_ceil(node.size()) / 2, random_);
            bisection.anneal();
            if (!best || bisection.together() < best->together()) best.emplace(bisection);
        }
        if (node.size() == ways_ && best->together() > kMaxViolations * pairs.all()) return false;
        std::vector<std::uint32_t> halves[2];
        for (std::size_t i = 0; i < node.size(); ++i) halves[best->side(i)].push_back(node[i]);
        place(halves[0]);
        place(halves[1]);
        return true;
    }
    const std::vector<Step>& steps_;
    std::uint32_t ways_;
    std::vector<std::uint32_t> order_;  ///< by leaf: its way
    bool known_ = false;
    std::mt19937_64 random_{1};
};

}  // namespace

WayTree learn_tree(std::vector<Step> steps, std::size_t from, std::size_t end, std::uint32_t ways) {
    std::erase_if(steps, [&](const Step& step) { return step.load < from || step.load >= end; });
    auto tree = tree_of_splits(steps, ways);
    if (tree.nodes.size() == 2 * std::size_t{ways} - 1) return tree;
    const LeafOrder order(steps, ways);
    return order.known() ? order.tree() : tree;
}

}  // namespace gputomo::deduce::cache
