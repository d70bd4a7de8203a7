// Constants that differ by lane: lines that one load misses come one after the other.
#pragma once

#include "machine/cache_scope.hpp"
#include "machine/machine.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gputomo::costs {

struct ConstantLineSpec {
    double hit = 0;                 ///< latency of the first cache of constants
    double behind = 0;              ///< latency of the cache behind it; 0: not described, and nothing waits
    std::uint64_t line_bytes = 64;  ///< of the first one
};
[[nodiscard]] inline ConstantLineSpec constant_line_spec_of(const machine::Machine& machine) {
    const auto caches = machine::caches_on(machine, "constant");
    if (caches.size() < 2) return {};
    const auto first = machine.caches.find(caches[0]), behind = machine.caches.find(caches[1]);
    if (first == machine.caches.end() || behind == machine.caches.end() || !first->second.latency ||
        !behind->second.latency || !first->second.line)
        return {};
    return {.hit = static_cast<double>(*first->second.latency),
            .behind = static_cast<double>(*behind->second.latency),
            .line_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(1, *first->second.line))};
}

/// The lines of one load, in the order in which its lanes ask for them. While one is fetched, the load's later lanes
/// wait. Other warps do not.
class ConstantLines {
public:
    explicit ConstantLines(const ConstantLineSpec& spec) : spec_(spec) {}

    /// When the data of `address` are there, which were asked for at `asked` and would be there at `done` alone.
    [[nodiscard]] double there(std::uint64_t address, double asked, double done) {
        if (spec_.behind == 0) return done;
        const std::uint64_t line = address / spec_.line_bytes;
        // What comes sooner than half-way to the second cache is in the first one, or nearly there.
        const bool misses =
            done - asked > (spec_.hit + spec_.behind) / 2 && std::ranges::find(missed_, line) == missed_.end();
        // Data from further away are on their way together.
        const double own = misses ? std::min(done - asked, spec_.behind) : spec_.hit;
        const double there = std::max(done, asked + earlier_ + own);
        if (misses) {
            missed_.push_back(line);
            earlier_ += own - spec_.hit;
        }
        return there;
    }

private:
    ConstantLineSpec spec_;
    std::vector<std::uint64_t> missed_;
    double earlier_ = 0;  ///< cycles for which lanes wait for these lines
};

}  // namespace gputomo::costs
