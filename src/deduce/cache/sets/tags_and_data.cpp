#include "deduce/cache/sets/tags_and_data.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gputomo::deduce::cache {
namespace {

/// Passes counted for one group of full sets.
constexpr std::uint32_t kCountedPasses = 16;
/// If data are lacking, this share of the lines beyond the array's size misses in each pass, or more. Without room for
/// their data all of them should; half is a chosen margin. A smaller one would take outliers and slow settling for
/// missing data.
constexpr double kMissingShare = 0.5;
/// Standard deviations of the count of outliers that misses must exceed.
constexpr double kMissSigmas = 5;
/// Full sets with this part of the data surely have room for their lines. A larger part leaves less margin, a smaller
/// one shows fewer misses of sets that never settle.
constexpr double kRoomyPart = 0.5;
/// If more than this part of the lines beyond the array's size misses in the roomy sets too, sets never settle.
constexpr double kRestless = 0.1;
/// Caches with more tags than this are not tested: a chosen bound on the loads of one pass.
constexpr std::uint64_t kMaxTags = 1 << 14;

std::vector<std::uint64_t> lines_by_set(const Index& index, std::uint64_t base, std::uint64_t bytes, std::size_t sets) {
    std::vector<std::uint64_t> lines(sets, 0);
    for (std::uint64_t at = 0; at < bytes; at += index.line()) ++lines[index.set_of(base + at)];
    return lines;
}

/// Whether `chosen` sets, each full with `ways` lines, miss more than their share of `missing` lines in a pass.
/// `missing` is the number for all sets.
bool full_sets_miss(const Probe& probe, const Index& index, std::uint64_t chosen, std::uint64_t ways, double missing) {
    Offsets lines;
    for (std::uint64_t i = 0; i < chosen; ++i)
        for (std::uint64_t way = 0; way < ways; ++way) lines.push_back(index.line_of(i * index.sets() / chosen, way));
    if (lines.empty()) return false;
    const auto warm = static_cast<std::uint32_t>(kDataLoads / 8 / lines.size());
    const auto rates = probe.miss_rates_in_random_orders(lines, warm, kCountedPasses);
    const double outliers = probe.miss_like_outlier_rate() * static_cast<double>(lines.size());
    const double part = static_cast<double>(chosen) / static_cast<double>(index.sets());
    return std::accumulate(rates.begin(), rates.end(), 0.0) >
           outliers + kMissSigmas * std::sqrt(outliers / kCountedPasses) + part * missing;
}

}  // namespace

bool overflows_before_sets_do(const Index& index, const std::vector<std::uint64_t>& ways, const Bracket& array,
                              std::uint64_t base) {
    const std::uint64_t most = std::ranges::max(ways);
    const std::uint64_t tags = ways.size() * most;
    if (array.overflow == 0 || std::ranges::min(ways) != most || array.overflow >= tags * index.line() ||
        tags > kMaxTags)
        return false;
    return std::ranges::max(lines_by_set(index, base, array.overflow, ways.size())) <= most;
}

bool full_sets_lack_data(const Probe& probe, const Index& index, const std::vector<std::uint64_t>& ways,
                         const Bracket& array) {
    const std::uint64_t most = std::ranges::max(ways);
    const double beyond = static_cast<double>(ways.size() * most) -
                          static_cast<double>(array.overflow) / static_cast<double>(index.line());
    const std::uint64_t kept = array.fits / index.line();
    const auto roomy = static_cast<std::uint64_t>(kRoomyPart * static_cast<double>(kept)) / most;
    return full_sets_miss(probe, index, ways.size(), most, kMissingShare * beyond) &&
           !full_sets_miss(probe, index, roomy, most, kRestless * beyond);
}

}  // namespace gputomo::deduce::cache
