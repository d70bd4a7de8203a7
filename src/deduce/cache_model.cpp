#include "deduce/cache_model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <stdexcept>

namespace gputomo::deduce {
namespace {

constexpr std::uint32_t kEmpty = 0xFFFFFFFF;

/// One set; `state` means what the policy wants it to.
struct Set {
    std::vector<std::uint32_t> tags;
    std::vector<std::uint32_t> state;
    std::uint32_t clock = 0;
};

using Touch = void (*)(Set&, std::uint32_t way, bool filled);
using Victim = std::uint32_t (*)(Set&);
struct Policy {
    std::string_view name;
    Touch touch;
    Victim victim;
};

std::uint32_t oldest(Set& set) {
    return static_cast<std::uint32_t>(std::min_element(set.state.begin(), set.state.begin() + static_cast<std::ptrdiff_t>(set.tags.size())) - set.state.begin());
}
void stamp(Set& set, std::uint32_t way, bool) { set.state[way] = ++set.clock; }
void stamp_fill(Set& set, std::uint32_t way, bool filled) {
    if (filled) set.state[way] = ++set.clock;
}

void point_away(Set& set, std::uint32_t way, bool) {
    std::uint32_t node = 1;
    for (std::uint32_t half = std::bit_ceil(static_cast<std::uint32_t>(set.tags.size())) / 2; half != 0; half /= 2) {
        const bool right = (way & half) != 0;
        set.state[node] = right ? 0 : 1;
        node = node * 2 + (right ? 1 : 0);
    }
}
std::uint32_t follow(Set& set) {
    const auto ways = static_cast<std::uint32_t>(set.tags.size());
    std::uint32_t node = 1, way = 0;
    for (std::uint32_t half = std::bit_ceil(ways) / 2; half != 0; half /= 2) {
        const bool right = set.state[node] != 0 && (way | half) < ways;
        if (right) way |= half;
        node = node * 2 + (right ? 1 : 0);
    }
    return way;
}

void clear_except(Set& set, std::uint32_t kept) {
    for (std::uint32_t w = 0; w < set.tags.size(); ++w)
        if (w != kept) set.state[w] = 0;
}
std::uint32_t first_with(const Set& set, std::uint32_t state) {
    std::uint32_t w = 0;
    while (w < set.tags.size() && set.state[w] != state) ++w;
    return w;
}
void mark_clearing(Set& set, std::uint32_t way, bool) {
    set.state[way] = 1;
    if (first_with(set, 0) == set.tags.size()) clear_except(set, way);
}
void mark(Set& set, std::uint32_t way, bool) { set.state[way] = 1; }
std::uint32_t first_unmarked(Set& set) {
    const auto way = first_with(set, 0);
    if (way < set.tags.size()) return way;
    clear_except(set, kEmpty);
    return 0;
}

constexpr std::uint32_t kDistant = 3;
void predict_reuse(Set& set, std::uint32_t way, bool filled) { set.state[way] = filled ? kDistant - 1 : 0; }
std::uint32_t most_distant(Set& set) {
    for (;;) {
        const auto way = first_with(set, kDistant);
        if (way < set.tags.size()) return way;
        for (auto& s : set.state) ++s;
    }
}

constexpr Policy kPolicies[] = {
    {"lru", stamp, oldest},          {"fifo", stamp_fill, oldest}, {"tree-plru", point_away, follow},
    {"bit-plru", mark_clearing, first_unmarked}, {"nru", mark, first_unmarked}, {"srrip", predict_reuse, most_distant},
};

constexpr auto kNames = [] {
    std::array<std::string_view, std::size(kPolicies)> names;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = kPolicies[i].name;
    return names;
}();

}  // namespace

std::span<const std::string_view> candidate_policies() { return kNames; }

std::vector<bool> predicted_hits(std::string_view policy, std::uint32_t ways, std::span<const std::uint32_t> lines, const std::vector<bool>& observed_hits) {
    const auto row = std::find_if(std::begin(kPolicies), std::end(kPolicies), [&](const Policy& p) { return p.name == policy; });
    if (row == std::end(kPolicies)) throw std::invalid_argument("no such candidate policy");
    if (observed_hits.size() != lines.size()) throw std::invalid_argument("one observation is needed for each access");
    Set set{std::vector<std::uint32_t>(ways, kEmpty), std::vector<std::uint32_t>(std::bit_ceil(ways) * 2, 0), 0};
    std::vector<bool> hits;
    hits.reserve(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        auto at = static_cast<std::uint32_t>(std::find(set.tags.begin(), set.tags.end(), lines[i]) - set.tags.begin());
        const bool present = at < ways;
        if (!present) {
            at = static_cast<std::uint32_t>(std::find(set.tags.begin(), set.tags.end(), kEmpty) - set.tags.begin());
            if (at == ways) at = row->victim(set);
            set.tags[at] = lines[i];
        }
        row->touch(set, at, !present || !observed_hits[i]);
        hits.push_back(present);
    }
    return hits;
}

}  // namespace gputomo::deduce
