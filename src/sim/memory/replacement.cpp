#include "sim/memory/replacement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <random>
#include <stdexcept>
#include <utility>

namespace gputomo::sim {
namespace {

/// What a policy is made from.
struct Setup {
    std::vector<std::uint32_t> set_ways;
    std::vector<double> way_odds;
    std::uint64_t seed = 0;
};

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

/// Evicts the way with the oldest stamp; LRU renews the stamp on a hit, FIFO does not.
template <bool renew_on_hit>
class Oldest : public Replacement {
public:
    explicit Oldest(const Setup& setup) : stamp_(setup.set_ways, 0) {}
    void touch(std::uint32_t set, std::uint32_t way) override {
        if constexpr (renew_on_hit) stamp_.at(set, way) = ++now_;
    }
    void fill(std::uint32_t set, std::uint32_t way) override { stamp_.at(set, way) = ++now_; }
    std::uint32_t victim(std::uint32_t set) override {
        const auto* first = &stamp_.at(set, 0);
        return static_cast<std::uint32_t>(std::min_element(first, first + stamp_.ways(set)) - first);
    }

private:
    WayTable<std::uint64_t> stamp_;
    std::uint64_t now_ = 0;
};

/// Random victim, with equal or given odds (Mei 2014, 4.1: Fermi's 1/6, 1/2, 1/6, 1/6).
class Odds : public Replacement {
public:
    explicit Odds(const Setup& setup) : set_ways_(setup.set_ways), odds_(setup.way_odds), random_(setup.seed) {}
    void touch(std::uint32_t, std::uint32_t) override {}
    void fill(std::uint32_t, std::uint32_t) override {}
    std::uint32_t victim(std::uint32_t set) override {
        const std::uint32_t ways = set_ways_[set];
        if (odds_.empty()) return static_cast<std::uint32_t>(random_() % ways);
        double left = static_cast<double>(random_() >> 11) * 0x1p-53;
        for (std::uint32_t way = 0; way + 1 < ways && way < odds_.size(); ++way) {
            left -= odds_[way];
            if (left < 0) return way;
        }
        return ways - 1;
    }

private:
    std::vector<std::uint32_t> set_ways_;
    std::vector<double> odds_;
    std::mt19937_64 random_;
};

/// A binary tree of bits that point away from the last use; a tree over the next power of two leaves, where
/// branches without ways are never taken.
class TreePlru : public Replacement {
public:
    explicit TreePlru(const Setup& setup) : set_ways_(setup.set_ways), bits_(padded(setup.set_ways), 0) {}
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

/// One used-bit per way. Bit-PLRU (also called MRU) clears the others when all are set, on a hit as on a fill; NRU clears them
/// only when it needs a victim and finds none.
template <bool clear_early>
class UsedBits : public Replacement {
public:
    explicit UsedBits(const Setup& setup) : used_(setup.set_ways, 0) {}
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

/// Re-reference interval prediction with 2 bits: static inserts "long", bimodal inserts "distant" but once in 32.
template <bool bimodal>
class Rrip : public Replacement {
public:
    explicit Rrip(const Setup& setup) : interval_(setup.set_ways, kDistant), random_(setup.seed) {}
    void touch(std::uint32_t set, std::uint32_t way) override { interval_.at(set, way) = 0; }
    void fill(std::uint32_t set, std::uint32_t way) override {
        const bool distant = bimodal && random_() % 32 != 0;
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
    WayTable<std::uint8_t> interval_;
    std::mt19937_64 random_;
};

template <class Policy>
std::unique_ptr<Replacement> make(const Setup& setup) {
    return std::make_unique<Policy>(setup);
}

using Factory = std::unique_ptr<Replacement> (*)(const Setup&);
constexpr std::pair<std::string_view, Factory> kPolicies[] = {
    {"lru", make<Oldest<true>>},        {"fifo", make<Oldest<false>>},    {"random", make<Odds>},
    {"way-odds", make<Odds>},           {"tree-plru", make<TreePlru>},    {"bit-plru", make<UsedBits<true>>},
    {"nru", make<UsedBits<false>>},     {"srrip", make<Rrip<false>>},     {"brrip", make<Rrip<true>>},
};

}  // namespace

std::unique_ptr<Replacement> make_replacement(std::string_view policy, std::vector<std::uint32_t> set_ways,
                                              std::vector<double> way_odds, std::uint64_t seed) {
    for (const auto& [name, factory] : kPolicies)
        if (name == policy) return factory({std::move(set_ways), std::move(way_odds), seed});
    throw std::invalid_argument(fmt::format("policy \"{}\" cannot be simulated", policy));
}

}  // namespace gputomo::sim
