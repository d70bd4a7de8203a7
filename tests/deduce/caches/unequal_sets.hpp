// A cache whose sets differ in size, below a level that filters what it sees.
#pragma once

#include "deduce/cache/chase/chase.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace gputomo::deduce::caches {

/// Sets of unequal size below a filtering level, in numbers of lines. `dealt`: line numbers modulo all lines are dealt
/// to the sets in turn, and full sets are skipped.
struct Unequal {
    std::vector<std::size_t> ways;
    bool dealt = false, fifo = false;
    std::uint64_t first = 0;  ///< number of the line at offset 0
    double outliers = 0;
};

class UnequalSets {
public:
    static constexpr std::uint64_t kLine = 1024;    ///< bytes
    static constexpr double kHit = 10, kMiss = 60;  ///< cycles

    explicit UnequalSets(const Unequal& truth);
    ChaseTrace operator()(const ChaseRequest& request);
    [[nodiscard]] std::size_t lines() const { return set_of_.size(); }

private:
    bool hits(std::uint64_t line);

    Unequal truth_;
    std::vector<std::size_t> set_of_;               ///< by line number modulo all lines, where lines are dealt
    std::vector<std::vector<std::uint64_t>> held_;  ///< by set, the next victim first
    std::mt19937_64 random_{3};
};

}  // namespace gputomo::deduce::caches
