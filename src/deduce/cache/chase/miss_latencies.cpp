#include "deduce/cache/chase/miss_latencies.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace gputomo::deduce::cache {
namespace {

/// The shortest interval with `kPartOfSlow` of the slow readings defines the misses. `kTimesPart` times its width on
/// either side still counts, and at least `kMinWidth` cycles. Outliers must be rarer than the rest of the slow
/// readings.
constexpr double kPartOfSlow = 0.35, kTimesPart = 10, kMinWidth = 10;
/// A group with at least `kSomeOfSlow` of the slow readings also counts if it is at most twice as wide, or within
/// `kMinPart` cycles.
constexpr double kSomeOfSlow = 0.05, kMinPart = 4;
/// Misses lie at most this many times farther above the threshold than most of them. Slower loads met another level as
/// well.
constexpr double kFarther = 2;
/// With fewer slow readings, `kPartOfSlow` of them are a handful, whose interval outliers may decide.
constexpr std::size_t kMinSlow = 16;

}  // namespace

MissLatencies::MissLatencies(const std::vector<double>& latencies, double threshold) {
    std::vector<double> slow;
    std::ranges::copy_if(latencies, std::back_inserter(slow),
                         [threshold](double latency) { return latency > threshold; });
    if (slow.size() < kMinSlow) return;
    std::sort(slow.begin(), slow.end());
    const auto part = static_cast<std::size_t>(kPartOfSlow * static_cast<double>(slow.size()));
    std::size_t main = 0;
    for (std::size_t i = 0; i + part < slow.size(); ++i)
        if (slow[i + part] - slow[i] < slow[main + part] - slow[main]) main = i;
    const double width = slow[main + part] - slow[main], most = threshold + kFarther * (slow[main + part] - threshold);
    const double wide = std::max(kTimesPart * width, kMinWidth);
    const auto some = static_cast<std::size_t>(std::ceil(kSomeOfSlow * static_cast<double>(slow.size())));
    for (std::size_t i = 0; i + some < slow.size(); ++i)
        if (slow[i + some] <= most && slow[i + some] - slow[i] <= std::max(2 * width, kMinPart))
            add({slow[i] - wide, slow[i + some] + wide});
}

bool MissLatencies::contains(double latency) const {
    return intervals_.empty() || std::ranges::any_of(intervals_, [latency](const auto& interval) {
               return latency >= interval[0] && latency <= interval[1];
           });
}

void MissLatencies::add(std::array<double, 2> interval) {
    if (!intervals_.empty() && interval[0] <= intervals_.back()[1])
        intervals_.back()[1] = std::max(intervals_.back()[1], interval[1]);
    else
        intervals_.push_back(interval);
}

}  // namespace gputomo::deduce::cache
