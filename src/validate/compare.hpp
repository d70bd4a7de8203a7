// Compares a scan of a simulated machine with the truth, leaf by leaf.
#pragma once

#include "machine/machine.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gputomo::validate {

enum class Verdict {
    /// Both are absent, or both are known and equal. Cycles are equal within half a step of the clock, reals within 1%,
    /// the ends of latency ranges within 1 cycle, and launch.block_replacement within a step or 1%.
    exact,
    undecided,  ///< the scan left candidates, and the truth is one of them
    wrong,      ///< the scan decided on another value, excluded the truth, or found a part that does not exist
    missing,    ///< the scan has no estimate
};

struct Comparison {
    std::string path;       ///< with the names of the truth: "caches.l1.ways"
    std::string parameter;  ///< the path with the map key as *: "caches.*.ways"
    Verdict verdict = Verdict::missing;
    std::string truth;  ///< values as text
    std::string scanned;
};

/// Compares every leaf of the truth, and the leaves of caches and TLBs that only the scan has. Leaves that the schema
/// marks internal are skipped. Caches and TLBs are matched by their place on a path, whatever the scan calls them. The
/// policy "not-lru" is exact for every policy but "lru". The policy of a single way means nothing and is skipped.
[[nodiscard]] std::vector<Comparison> compare(const machine::Machine& truth, const machine::Machine& scanned);

struct Tally {
    std::size_t exact = 0;
    std::size_t undecided = 0;
    std::size_t wrong = 0;
    std::size_t missing = 0;
    [[nodiscard]] std::size_t total() const { return exact + undecided + wrong + missing; }
    [[nodiscard]] std::size_t decided() const { return exact + wrong; }
};

/// The tally of each parameter.
using Tallies = std::map<std::string, Tally>;

/// Adds the comparisons of one machine.
void add(Tallies& tallies, const std::vector<Comparison>& comparisons);

/// The tallies without the parameters that every scan lacks, because no experiment determines them yet.
[[nodiscard]] Tallies covered(const Tallies& tallies);

/// The sum over all parameters.
[[nodiscard]] Tally sum(const Tallies& tallies);

}  // namespace gputomo::validate
