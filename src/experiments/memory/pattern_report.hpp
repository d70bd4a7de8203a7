// Patterns of addresses, what one SM gets of their loads, and what that says of its limits.
#pragma once

#include "experiments/experiment.hpp"

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace gputomo::experiments {

/// Bytes of a line: no GPU so far has longer ones.
inline constexpr int kPatternLine = 128;
/// Rates, or numbers of loads in flight, that differ by less than this share are the same. Runs differ by a few
/// percent; a larger value confuses a limited rate with limited entries.
inline constexpr double kSameRate = 0.1;

/// The addresses that the lanes of a warp load.
struct LoadPattern {
    const char* name;
    int lines;           ///< lines that a load of a warp touches
    int sectors;         ///< sectors that it touches, in all its lines
    std::uint32_t span;  ///< bytes from one load of a warp to its next
};
/// One word for all lanes; neighbouring words; 4 to 32 lines, up to 32 sectors; 32 lines in random order.
inline constexpr LoadPattern kLoadPatterns[] = {
    {"one_word", 1, 1, kPatternLine},        {"neighbours", 1, 4, kPatternLine},
    {"merger8", 4, 4, 4 * kPatternLine},     {"sectors", 8, 32, 8 * kPatternLine},
    {"stride64", 16, 32, 16 * kPatternLine}, {"unique", 32, 32, 32 * kPatternLine},
    {"random", 32, 32, 32 * kPatternLine}};

/// Bytes from a warp's place to that of a lane. Random places lie within `far` bytes.
[[nodiscard]] std::uint32_t offset_of(const LoadPattern& pattern, int lane, std::int64_t far, std::uint64_t seed);

/// Latency and throughput of one SM's loads of one pattern from one source.
struct PatternCurve {
    double latency = 0;                     ///< cycles of a lone load, without the iteration that contains it
    double rate = 0;                        ///< most loads per cycle, of all warps
    double partition = 0, warp = 0;         ///< most loads per cycle of the warps of one scheduler, and of one warp
    int partition_most = 0, warp_most = 0;  ///< loads that they issued at once for these rates
    [[nodiscard]] double in_flight() const { return rate * latency; }
};

/// Half of the loads of each warp come from the cache and half from memory.
struct SourceMix {
    double rate = 0;        ///< loads per cycle; 0: not measured
    double by_rate = 0;     ///< the rate if the slower half has a limited rate
    double by_entries = 0;  ///< the rate if the loads in flight are limited, wherever their data come from
};

/// The curves of each pattern, by its name: from the last cache and from memory.
using PatternCurves = std::map<std::string_view, std::pair<PatternCurve, PatternCurve>>;

/// Adds the estimates of patterns.NAME.*. Without `has_cache` only memory was measured.
void report_pattern(const LoadPattern& pattern, const PatternCurve& near, const PatternCurve& far, const SourceMix& mix,
                    bool has_cache, Outcome& outcome);

/// The rates of all patterns in loads, lines and sectors, side by side: the one that is the same for all is the limit.
[[nodiscard]] results::Trace rates_trace(const PatternCurves& rates);

}  // namespace gputomo::experiments
