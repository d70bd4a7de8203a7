#include "deduce/geometry/way_tree.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

namespace gputomo::deduce::geometry {
namespace {

/// A tree whose splits contradict more than this share of the victims is none.
constexpr double kMostViolations = 0.15;
/// A search ends when so many nodes were visited; and looks at so many steps for each way.
constexpr std::size_t kMostNodes = 12'000'000, kStepsPerWay = 50;
/// Of so few ways that there are not many trees: swaps for each that there is.
constexpr double kSwapsPerTree = 20;

/// Ways that are connected by "not in the same half", each with its side.
class Sides {
public:
    explicit Sides(std::uint32_t ways) : parent_(ways), side_(ways, 0) { std::iota(parent_.begin(), parent_.end(), 0U); }
    std::pair<std::uint32_t, int> find(std::uint32_t way) const {
        int side = 0;
        while (parent_[way] != way) {
            side ^= side_[way];
            way = parent_[way];
        }
        return {way, side};
    }
    /// Returns false where both are on the same side already.
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

/// Splits a node's ways in the two halves that victims show; false where they show none.
bool split(const std::vector<Step>& steps, std::size_t end, std::uint32_t ways, const std::vector<std::uint32_t>& node,
           std::vector<std::uint32_t> (&halves)[2]) {
    constexpr std::uint32_t kNone = ~0U;
    std::vector<bool> member(ways, false);
    for (const auto way : node) member[way] = true;
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> seen;
    std::uint32_t last = kNone;
    for (std::size_t i = 0; i < end; ++i) {
        if (!member[steps[i].way]) continue;
        if (steps[i].evicted && last != kNone) ++seen[std::minmax(last, steps[i].way)];
        last = steps[i].way;
    }
    std::vector<std::pair<int, std::pair<std::uint32_t, std::uint32_t>>> pairs;
    for (const auto& [pair, count] : seen) pairs.emplace_back(count, pair);
    std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    Sides sides(ways);
    int violated = 0, total = 0;
    for (const auto& [count, pair] : pairs) {
        total += count;
        if (!sides.part(pair.first, pair.second)) violated += count;
    }
    if (total == 0 || violated > kMostViolations * total) return false;
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
        if (tree.nodes[n].ways.size() < 2 || !split(steps, steps.size() / 2, ways, tree.nodes[n].ways, halves)) continue;
        for (int half = 0; half < 2; ++half) {
            tree.nodes[n].halves[half] = static_cast<int>(tree.nodes.size());
            tree.nodes.push_back({halves[half], {-1, -1}});
        }
    }
    return tree;
}

/// Ways in the order of a tree's leaves, as hardware numbers them. Branches without ways are never taken.
class OrderSearch {
public:
    OrderSearch(const std::vector<Step>& steps, std::uint32_t ways) : ways_(ways), leaves_(std::bit_ceil(ways)), place_(ways), last_(leaves_) {
        const std::size_t count = std::min(steps.size() / 2, kStepsPerWay * ways);
        steps_.assign(steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2 - count), steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2));
        std::iota(place_.begin(), place_.end(), 0U);
    }
    /// False where no order explains nearly all victims.
    bool run() {
        std::size_t wrong = contradictions();
        const double trees = std::exp(std::lgamma(ways_ + 1.0) - (ways_ - 1.0) * std::log(2));
        const auto most =
            static_cast<std::size_t>(std::min(kSwapsPerTree * trees, kMostNodes / std::max(1.0, static_cast<double>(steps_.size()) * std::bit_width(leaves_))));
        for (std::size_t i = 0; i < most && wrong > 0; ++i) {
            // One of two ways that should not be where they are goes elsewhere.
            const std::uint32_t way = random_() % 2 == 0 ? victim_ : before_, other = static_cast<std::uint32_t>(random_() % ways_);
            const auto kept = std::pair(victim_, before_);
            std::swap(place_[way], place_[other]);
            const std::size_t now = contradictions();
            if (now > wrong) {
                std::swap(place_[way], place_[other]);
                std::tie(victim_, before_) = kept;
            } else {
                wrong = now;
            }
        }
        return static_cast<double>(wrong) <= kMostViolations * static_cast<double>(victims_);
    }
    [[nodiscard]] WayTree tree() const {
        std::vector<std::uint32_t> way_at(ways_);
        for (std::uint32_t way = 0; way < ways_; ++way) way_at[place_[way]] = way;
        auto tree = binary_tree(ways_);
        for (auto& node : tree.nodes)
            for (auto& way : node.ways) way = way_at[way];
        return tree;
    }

private:
    /// Levels of the tree at which a victim was in the half used last; some such victim is remembered.
    std::size_t contradictions() {
        std::fill(last_.begin(), last_.end(), Last{});
        std::size_t wrong = 0;
        victims_ = 0;
        for (const auto& step : steps_) {
            victims_ += step.evicted ? 1 : 0;
            std::uint32_t node = 1, at = 0;
            for (std::uint32_t half = leaves_ / 2; half != 0; half /= 2) {
                const int side = (place_[step.way] & half) != 0 ? 1 : 0;
                Last& last = last_[node];
                if (step.evicted && last.side == side && (at | half) < ways_ && random_() % ++wrong == 0) victim_ = step.way, before_ = last.way;
                last = {side, step.way};
                at |= side != 0 ? half : 0;
                node = node * 2 + static_cast<std::uint32_t>(side);
            }
        }
        return wrong;
    }
    struct Last {
        int side = -1;  ///< unknown
        std::uint32_t way = 0;
    };
    std::uint32_t ways_, leaves_;
    std::vector<std::uint32_t> place_;  ///< by way: its leaf
    std::vector<Last> last_;            ///< by node, the root is 1
    std::vector<Step> steps_;
    std::size_t victims_ = 0;
    std::uint32_t victim_ = 0, before_ = 0;
    std::mt19937_64 random_{1};
};

}  // namespace

WayTree learn_tree(const std::vector<Step>& steps, std::uint32_t ways) {
    auto tree = tree_of_splits(steps, ways);
    if (tree.nodes.size() == 2 * std::size_t{ways} - 1) return tree;
    OrderSearch search(steps, ways);
    return search.run() ? search.tree() : tree;
}

}  // namespace gputomo::deduce::geometry
