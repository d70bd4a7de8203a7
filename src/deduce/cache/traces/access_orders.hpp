// Random orders in which the lines of one set are loaded so that their victims distinguish replacement policies.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace gputomo::deduce::cache {

/// Line numbers, 0 to lines - 1, in the order of their loads; each appears several times.
using LineOrder = std::vector<std::uint64_t>;

/// Fewest loads from one load of a line in draw_rounds() to its next one: a quarter of the lines. An upper level
/// that holds fewer lines has then evicted it.
[[nodiscard]] std::uint64_t min_return_distance(std::uint64_t lines);

/// `rounds` random orders of all lines, one after the other and round again, in which every line returns after
/// min_return_distance() loads or later.
[[nodiscard]] LineOrder draw_rounds(std::mt19937_64& random, std::uint64_t lines, std::uint64_t rounds);

/// `rounds` rounds over all lines in nearly the same order. A line then returns after most others were used, when
/// pseudo-LRU trees and similar policies have let it go. These rounds evict several times as often as random ones, and
/// other pairs of lines.
[[nodiscard]] LineOrder draw_similar_rounds(std::mt19937_64& random, std::uint64_t lines, std::uint64_t rounds);

/// From `least` to `most` loads of each line in any order. Lines return sooner and later than in rounds, and some more
/// often than others, which distinguishes policies that agree on rounds.
[[nodiscard]] LineOrder draw_visits(std::mt19937_64& random, std::uint64_t lines, std::uint64_t least,
                                    std::uint64_t most);

}  // namespace gputomo::deduce::cache
