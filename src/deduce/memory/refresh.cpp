#include "deduce/memory/refresh.hpp"

#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace gputomo::deduce {
namespace {

// The numbers below are chosen by hand; the tests check them on made-up memories with jitter and outliers.

/// The two loads of a pair have equal latencies within this share of the median, or one of them waited.
constexpr double kLateShare = 0.08;
/// A load surely waited if it takes longer than this quantile of all, and by `kLateShare` of the median more. Fewer
/// than a quarter of the loads wait in any memory so far.
constexpr double kUndelayedQuantile = 0.75;
/// An interval needs this many pairs that both waited, and this share of them a multiple of it apart.
constexpr std::size_t kFewestBothLate = 12;
constexpr double kRegularPairs = 0.75;
/// Both loads of a pair end at the end of a refresh, so that times are multiples within this share of the median
/// latency.
constexpr double kExactShare = 0.03;
/// The lines of a pair may belong to different sides of a cache, so that times are multiples within this share. The
/// sides of an H200's are 0.1 of its latency apart.
constexpr double kSidesShare = 0.12;
/// Intervals are looked for up to this many median latencies, in steps of this share of one.
constexpr double kLongestInterval = 30, kIntervalStep = 0.002;
/// Where fewer loads than this share waited, there are no refreshes.
constexpr double kFewestLateShare = 0.01;
/// Standard errors to either side of a value.
constexpr double kErrors = 2;

struct RefreshFit {
    double cycles = 0;
    double regular = 0;    ///< share of the times that are multiples
    double deviation = 0;  ///< standard error
};

/// How well the times are multiples of `cycles`, and the interval that fits those which are.
RefreshFit fit(const std::vector<double>& times, double cycles, double exact) {
    std::vector<double> single;
    double sum = 0, count = 0;
    for (const double time : times) {
        const double multiple = std::round(time / cycles);
        if (multiple < 1 || std::abs(time - multiple * cycles) > exact) continue;
        single.push_back(time / multiple);
        sum += time;
        count += multiple;
    }
    if (single.empty()) return {};
    RefreshFit found{.cycles = sum / count,
                     .regular = static_cast<double>(single.size()) / static_cast<double>(times.size())};
    double squares = 0;
    for (const double one : single) squares += (one - found.cycles) * (one - found.cycles);
    const auto n = static_cast<double>(single.size());
    found.deviation = std::sqrt(squares / n / n);
    return found;
}

/// Sets the time of a refresh from the share of visible waits. `late`: cycles beyond which a wait is seen.
void set_time(double share, double loads, double late, MemoryRefresh& found) {
    // Where both loads of a pair wait, only the difference of their waits is seen. If a share p of all loads waits, a
    // share of p - p^2 / 2 is seen.
    const auto waiting = [](double seen) { return 1 - std::sqrt(std::max(0.0, 1 - 2 * seen)); };
    const auto time = [&](double seen) { return waiting(seen) * found.interval + late; };
    const double deviation = kErrors * std::sqrt(share * (1 - share) / loads);
    found.time = time(share);
    found.time_low = time(std::max(0.0, share - deviation));
    found.time_high = time(share + deviation);
}

}  // namespace

MemoryRefresh find_refresh(std::span<const LoadPair> pairs) {
    if (pairs.empty()) throw std::invalid_argument("find_refresh: found no pair of loads; expected some");
    std::vector<double> latencies;
    for (const LoadPair& pair : pairs) {
        latencies.push_back(pair.first.latency());
        latencies.push_back(pair.second.latency());
    }
    const double middle = median(latencies), late = kLateShare * middle;
    const double surely = quantile(latencies, kUndelayedQuantile) + late;
    std::size_t waits = 0;
    std::vector<double> times;
    for (const LoadPair& pair : pairs) {
        if (std::abs(pair.first.latency() - pair.second.latency()) > late) ++waits;
        if (pair.first.latency() > surely && pair.second.latency() > surely)
            times.push_back(pair.second.end - pair.first.end);
    }
    const auto loads = static_cast<double>(latencies.size());
    const double share = static_cast<double>(waits) / loads;
    MemoryRefresh found;
    found.why =
        fmt::format("{:.1f}% of {} loads waited, and both of {} pairs", 100 * share, latencies.size(), times.size());
    if (share < kFewestLateShare) {
        found.verdict = MemoryRefresh::Verdict::none;
        return found;
    }
    if (times.size() < kFewestBothLate) return found;
    // The longest interval of which the times are multiples: they are multiples of its parts as well.
    RefreshFit best;
    for (double cycles = kLongestInterval * middle; cycles > middle; cycles -= kIntervalStep * middle) {
        const RefreshFit fitted = fit(times, cycles, kSidesShare * middle);
        if (fitted.regular < kRegularPairs || fitted.regular < best.regular) continue;
        if (best.regular > 0 && best.cycles - fitted.cycles > kSidesShare * middle) break;
        best = fitted;
    }
    if (best.regular == 0) return found;
    best = fit(times, best.cycles, kExactShare * middle);
    found.verdict = MemoryRefresh::Verdict::found;
    found.interval = best.cycles;
    found.interval_low = best.cycles - kErrors * best.deviation;
    found.interval_high = best.cycles + kErrors * best.deviation;
    found.why += fmt::format("; {:.0f}% of these ended a multiple of one interval apart", 100 * best.regular);
    set_time(share, loads, late, found);
    return found;
}

}  // namespace gputomo::deduce
