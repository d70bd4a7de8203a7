// How well a blind scan recovered the machine that was simulated, leaf by leaf.
#pragma once

#include "machine/machine.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gputomo::validate {

enum class Verdict {
    exact,  ///< integers and names equal, cycles within half a step of the clock, reals within 1%, latency ranges
            ///< within 1 cycle, a block's replacement within a step or 1%; absent where it is absent
    undecided,  ///< the scan left candidates that do not exclude the truth
    wrong,      ///< the scan decided otherwise, or excluded the truth, or found what does not exist
    missing,    ///< the scan says nothing
};

struct Comparison {
    std::string path;       ///< as the truth spells it: "caches.l1.ways"
    std::string parameter;  ///< the path with the map key as *: "caches.*.ways"
    Verdict verdict = Verdict::missing;
    std::string truth;  ///< values as text
    std::string scanned;
};

/// Every leaf that the truth has, or that the scan found in a cache or TLB that the truth does not have. Leaves that
/// the schema marks internal are skipped. Caches and TLBs are aligned by their place on a path, whatever the scan calls
/// them. "not-lru" is exact for every policy but "lru"; the policy of a single way means nothing and is skipped.
[[nodiscard]] std::vector<Comparison> compare(const machine::Machine& truth, const machine::Machine& scanned);

struct Tally {
    std::size_t exact = 0;
    std::size_t undecided = 0;
    std::size_t wrong = 0;
    std::size_t missing = 0;
    [[nodiscard]] std::size_t total() const { return exact + undecided + wrong + missing; }
    [[nodiscard]] std::size_t decided() const { return exact + wrong; }
};

/// By parameter.
using Tallies = std::map<std::string, Tally>;

/// Adds the comparisons of one machine.
void add(Tallies& tallies, const std::vector<Comparison>& comparisons);

/// Without the parameters that were missing from every scan: those no experiment determines yet.
[[nodiscard]] Tallies covered(const Tallies& tallies);

/// All parameters together.
[[nodiscard]] Tally sum(const Tallies& tallies);

}  // namespace gputomo::validate
