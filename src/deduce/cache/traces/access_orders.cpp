#include "deduce/cache/traces/access_orders.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gputomo::deduce::cache {
namespace {

/// Shuffles of a round in search of one without an early return; then the last one is taken. The bound only ends a
/// search that has hardly a chance.
constexpr int kMaxShuffles = 1000;
/// In similar rounds a line moves by less than 2 / n of the round, n from `kMinParts` to below `kMaxParts`. Larger
/// moves look like random rounds, smaller ones evict the same lines again and again.
constexpr std::uint64_t kMinParts = 10, kMaxParts = 50;

bool returns_early(const LineOrder& before, const LineOrder& after, std::uint64_t apart) {
    for (std::uint64_t i = 0; i < apart; ++i)
        for (std::uint64_t j = 0; i + j + 1 < apart; ++j)
            if (after[i] == before[before.size() - 1 - j]) return true;
    return false;
}

}  // namespace

std::uint64_t min_return_distance(std::uint64_t lines) { return lines / 4; }

LineOrder draw_rounds(std::mt19937_64& random, std::uint64_t lines, std::uint64_t rounds) {
    const std::uint64_t apart = min_return_distance(lines);
    std::vector<LineOrder> drawn(rounds, LineOrder(lines));
    for (std::uint64_t r = 0; r < rounds; ++r) {
        std::iota(drawn[r].begin(), drawn[r].end(), std::uint64_t{0});
        for (int i = 0; i < kMaxShuffles; ++i) {
            std::shuffle(drawn[r].begin(), drawn[r].end(), random);
            if ((r == 0 || !returns_early(drawn[r - 1], drawn[r], apart)) &&
                (r + 1 < rounds || !returns_early(drawn[r], drawn[0], apart)))
                break;
        }
    }
    LineOrder order;
    for (const auto& round : drawn) order.insert(order.end(), round.begin(), round.end());
    return order;
}

LineOrder draw_similar_rounds(std::mt19937_64& random, std::uint64_t lines, std::uint64_t rounds) {
    const std::uint64_t parts = kMinParts + random() % (kMaxParts - kMinParts);
    const std::uint64_t moves = std::max<std::uint64_t>(2, 2 * lines / parts);
    LineOrder round(lines), order;
    std::iota(round.begin(), round.end(), std::uint64_t{0});
    std::shuffle(round.begin(), round.end(), random);
    for (std::uint64_t r = 0; r < rounds; ++r) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> when;
        for (std::uint64_t i = 0; i < lines; ++i) when.emplace_back(i + random() % (moves + 1), round[i]);
        std::ranges::stable_sort(when, {}, &std::pair<std::uint64_t, std::uint64_t>::first);
        for (std::uint64_t i = 0; i < lines; ++i) round[i] = when[i].second;
        order.insert(order.end(), round.begin(), round.end());
    }
    return order;
}

LineOrder draw_visits(std::mt19937_64& random, std::uint64_t lines, std::uint64_t least, std::uint64_t most) {
    LineOrder order;
    for (std::uint64_t line = 0; line < lines; ++line)
        order.insert(order.end(), least + random() % (most - least + 1), line);
    std::shuffle(order.begin(), order.end(), random);
    return order;
}

}  // namespace gputomo::deduce::cache
