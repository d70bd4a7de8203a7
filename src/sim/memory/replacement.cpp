#include "sim/memory/replacement.hpp"

#include <fmt/format.h>

#include <bit>
#include <random>
#include <stdexcept>

namespace gputomo::sim {
namespace {

/// Per-way state of all sets, in one array.
template <class T>
class WayTable {
public:
    explicit WayTable(const std::vector<std::uint32_t>& set_ways, T initial = {}) : set_ways_(set_ways) {
        std::size_t total = 0;
        for (const auto ways : set_ways) {
            first_.push_back(total);
            total += ways;
        }
        values_.assign(total, initial);
    }
    T& at(std::uint32_t set, std::uint32_t way) { return values_[first_[set] + way]; }
    [[nodiscard]] std::uint32_t ways(std::uint32_t set) const { return set_ways_[set]; }

private:
    std::vector<std::uint32_t> set_ways_;
    std::vector<std::size_t> first_;
    std::vector<T> values_;
};

/// Ways of each set in a ring from newest to oldest. LRU moves a way to the front on a hit and on a fill, FIFO on a
/// fill only.
template <bool move_on_hit>
class Ordered : public Replacement {
public:
    explicit Ordered(const ReplacementSetup& setup) : links_(setup.set_ways), newest_(setup.set_ways.size(), 0) {
        for (std::uint32_t set = 0; set < newest_.size(); ++set) {
            const std::uint32_t ways = links_.ways(set);
            for (std::uint32_t way = 0; way < ways; ++way)
                links_.at(set, way) = {(way + ways - 1) % ways, (way + 1) % ways};
        }
    }
    void touch(std::uint32_t set, std::uint32_t way) override {
        if constexpr (move_on_hit) to_front(set, way);
    }
    void fill(std::uint32_t set, std::uint32_t way) override { to_front(set, way); }
    std::uint32_t victim(std::uint32_t set) override { return links_.at(set, newest_[set]).newer; }

private:
    struct Link {
        std::uint32_t newer = 0;  ///< of the newest: the oldest
        std::uint32_t older = 0;
    };
    void to_front(std::uint32_t set, std::uint32_t way) {
        const std::uint32_t front = newest_[set];
        if (way == front) return;
        newest_[set] = way;
        const std::uint32_t oldest = links_.at(set, front).newer;
        if (way == oldest) return;  // the order in the ring stays
        Link& link = links_.at(set, way);
        links_.at(set, link.newer).older = link.older;
        links_.at(set, link.older).newer = link.newer;
        link = {oldest, front};
        links_.at(set, oldest).older = way;
        links_.at(set, front).newer = way;
    }
    WayTable<Link> links_;
    std::vector<std::uint32_t> newest_;
};

/// Segmented LRU (Karedla et al. 1994): a new line is on probation, and is protected once it is used again. Half of the
/// ways can be protected. One more use puts the protected line that was used longest ago back on probation. The victim
/// is the oldest line on probation.
class SegmentedLru : public Replacement {
public:
    explicit SegmentedLru(const ReplacementSetup& setup) : states_(setup.set_ways) {}
    void touch(std::uint32_t set, std::uint32_t way) override {
        states_.at(set, way) = {true, ++now_};
        const std::uint32_t ways = states_.ways(set);
        std::uint32_t guarded = 0, oldest = way;
        for (std::uint32_t other = 0; other < ways; ++other) {
            const State& state = states_.at(set, other);
            if (!state.guarded) continue;
            ++guarded;
            if (state.used < states_.at(set, oldest).used) oldest = other;
        }
        if (guarded > ways / 2) states_.at(set, oldest) = {false, ++now_};
    }
    void fill(std::uint32_t set, std::uint32_t way) override { states_.at(set, way) = {false, ++now_}; }
    std::uint32_t victim(std::uint32_t set) override {
        std::uint32_t oldest = 0;
        for (std::uint32_t way = 1; way < states_.ways(set); ++way) {
            const State &state = states_.at(set, way), &least = states_.at(set, oldest);
            if (state.guarded != least.guarded ? least.guarded : state.used < least.used) oldest = way;
        }
        return oldest;
    }

private:
    struct State {
        bool guarded = false;
        std::uint64_t used = 0;  ///< when it entered its segment
    };
    WayTable<State> states_;
    std::uint64_t now_ = 0;
};

/// A number from 0 to `count` - 1, by a multiplication, which is faster than a remainder.
std::uint32_t draw(std::mt19937_64& random, std::uint32_t count) {
    return static_cast<std::uint32_t>(((random() >> 32) * count) >> 32);
}

/// Every way is the victim with the same probability.
class Random : public Replacement {
public:
    explicit Random(const ReplacementSetup& setup) : set_ways_(setup.set_ways), random_(setup.seed) {}
    void touch(std::uint32_t, std::uint32_t) override {}
    void fill(std::uint32_t, std::uint32_t) override {}
    std::uint32_t victim(std::uint32_t set) override { return draw(random_, set_ways_[set]); }

private:
    std::vector<std::uint32_t> set_ways_;
    std::mt19937_64 random_;
};

/// Each way is the victim with its own probability (Mei 2014, 4.1: 1/6, 1/2, 1/6, 1/6 on Fermi).
class WayOdds : public Replacement {
public:
    explicit WayOdds(const ReplacementSetup& setup) : random_(setup.seed) {
        double sum = 0;
        for (const double odds : setup.way_odds) upper_.push_back(sum += odds);
    }
    void touch(std::uint32_t, std::uint32_t) override {}
    void fill(std::uint32_t, std::uint32_t) override {}
    std::uint32_t victim(std::uint32_t) override {
        const double point = static_cast<double>(random_() >> 11) * 0x1p-53;
        std::uint32_t way = 0;
        while (way + 1 < upper_.size() && point >= upper_[way]) ++way;
        return way;
    }

private:
    std::vector<double> upper_;
    std::mt19937_64 random_;
};

/// A binary tree of bits that point away from the last use. Where the ways are no power of two, the tree has the next
/// power of two of leaves, and branches without ways are never taken.
class TreePlru : public Replacement {
public:
    explicit TreePlru(const ReplacementSetup& setup) : set_ways_(setup.set_ways), bits_(padded(setup.set_ways), 0) {}
    void touch(std::uint32_t set, std::uint32_t way) override {
        const std::uint32_t leaves = std::bit_ceil(set_ways_[set]);
        std::uint32_t node = 1;
        for (std::uint32_t half = leaves / 2; half != 0; half /= 2) {
            const bool right = (way & half) != 0;
            bits_.at(set, node) = !right;
            node = node * 2 + right;
        }
    }
    void fill(std::uint32_t set, std::uint32_t way) override { touch(set, way); }
    std::uint32_t victim(std::uint32_t set) override {
        const std::uint32_t ways = set_ways_[set];
        std::uint32_t node = 1, way = 0;
        for (std::uint32_t half = std::bit_ceil(ways) / 2; half != 0; half /= 2) {
            const bool right = bits_.at(set, node) != 0 && (way | half) < ways;
            if (right) way |= half;
            node = node * 2 + right;
        }
        return way;
    }

private:
    static std::vector<std::uint32_t> padded(std::vector<std::uint32_t> ways) {
        for (auto& w : ways) w = std::bit_ceil(w) * 2;
        return ways;
    }
    std::vector<std::uint32_t> set_ways_;
    WayTable<std::uint8_t> bits_;
};

/// One used-bit per way. Bit-PLRU (also called MRU) clears the other bits when all are set, on a hit as on a fill. NRU
/// clears them only when it needs a victim and finds none.
template <bool clear_early>
class UsedBits : public Replacement {
public:
    explicit UsedBits(const ReplacementSetup& setup) : used_(setup.set_ways, 0) {}
    void touch(std::uint32_t set, std::uint32_t way) override {
        used_.at(set, way) = 1;
        if constexpr (clear_early) {
            if (first_unused(set) == used_.ways(set)) clear_except(set, way);
        }
    }
    void fill(std::uint32_t set, std::uint32_t way) override { touch(set, way); }
    std::uint32_t victim(std::uint32_t set) override {
        auto way = first_unused(set);
        if (way == used_.ways(set)) {
            clear_except(set, used_.ways(set));
            way = 0;
        }
        return way;
    }

private:
    std::uint32_t first_unused(std::uint32_t set) {
        std::uint32_t way = 0;
        while (way < used_.ways(set) && used_.at(set, way) != 0) ++way;
        return way;
    }
    void clear_except(std::uint32_t set, std::uint32_t kept) {
        for (std::uint32_t way = 0; way < used_.ways(set); ++way)
            if (way != kept) used_.at(set, way) = 0;
    }
    WayTable<std::uint8_t> used_;
};

/// Re-reference interval prediction with 2 bits and hit priority. The static policy inserts lines at "long", the
/// bimodal one at "distant" except for one fill in kBimodalPeriod on average.
template <bool bimodal>
class Rrip : public Replacement {
public:
    explicit Rrip(const ReplacementSetup& setup) : interval_(setup.set_ways, kDistant), random_(setup.seed) {}
    void touch(std::uint32_t set, std::uint32_t way) override { interval_.at(set, way) = 0; }
    void fill(std::uint32_t set, std::uint32_t way) override {
        const bool distant = bimodal && draw(random_, kBimodalPeriod) != 0;
        interval_.at(set, way) = distant ? kDistant : kDistant - 1;
    }
    std::uint32_t victim(std::uint32_t set) override {
        for (;;) {
            for (std::uint32_t way = 0; way < interval_.ways(set); ++way)
                if (interval_.at(set, way) == kDistant) return way;
            for (std::uint32_t way = 0; way < interval_.ways(set); ++way) ++interval_.at(set, way);
        }
    }

private:
    static constexpr std::uint8_t kDistant = 3;
    static constexpr std::uint32_t kBimodalPeriod = 32;
    WayTable<std::uint8_t> interval_;
    std::mt19937_64 random_;
};

template <class Policy>
std::unique_ptr<Replacement> make(const ReplacementSetup& setup) {
    return std::make_unique<Policy>(setup);
}

struct Policy {
    std::string_view name;
    std::unique_ptr<Replacement> (*make)(const ReplacementSetup&);
};

constexpr Policy kPolicies[] = {
    {"lru", make<Ordered<true>>},  {"fifo", make<Ordered<false>>},     {"random", make<Random>},
    {"tree-plru", make<TreePlru>}, {"bit-plru", make<UsedBits<true>>}, {"nru", make<UsedBits<false>>},
    {"srrip", make<Rrip<false>>},  {"brrip", make<Rrip<true>>},        {"slru", make<SegmentedLru>},
    {"way-odds", make<WayOdds>},
};

}  // namespace

std::vector<std::string_view> replacement_policies() {
    std::vector<std::string_view> names;
    for (const auto& policy : kPolicies) names.push_back(policy.name);
    return names;
}

std::unique_ptr<Replacement> make_replacement(const ReplacementSetup& setup) {
    for (const auto& policy : kPolicies)
        if (policy.name == setup.policy) return policy.make(setup);
    throw std::invalid_argument(fmt::format("policy \"{}\" cannot be simulated", setup.policy));
}

}  // namespace gputomo::sim
