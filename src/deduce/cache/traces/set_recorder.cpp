#include "deduce/cache/traces/set_recorder.hpp"

#include "deduce/cache/traces/access_orders.hpp"
#include "deduce/cache/traces/remove_outliers.hpp"

#include <algorithm>

namespace gputomo::deduce::cache {
namespace {

/// Most loads of a line in one sequence. More visits show more states of the set in one period, which then takes
/// longer to repeat.
constexpr std::uint64_t kMaxVisits = 16;
/// Passes over a sequence before recording.
constexpr std::uint32_t kWarmPasses = 2;
/// One of `kMissLikeOutliers` outliers is assumed to look like a miss, at least. Without a lower bound, a rate of zero
/// would forbid the reading that a slow load was an outlier.
constexpr double kMissLikeOutliers = 50;
/// Number of a filler line among those of the set.
constexpr std::uint32_t kFiller = ~0U;

}  // namespace

SetRecorder::SetRecorder(const Probe& probe, const Offsets& lines, const Offsets& filler, std::uint64_t sector)
    : probe_(probe), lines_(lines), filler_(filler), sector_(sector) {
    // A sequence contains each word once: a filler line that is loaded several times takes that many words.
    fillers_per_line_ = filler.size() / std::max<std::uint64_t>(1, min_return_distance(lines.size()));
    const std::uint64_t filler_visits =
        filler.empty()
            ? 1
            : std::max<std::uint64_t>(1, (lines.size() * fillers_per_line_ + filler.size() - 1) / filler.size());
    visits_ = std::min(kMaxVisits, sector / probe.question().word / filler_visits);
}

Offsets SetRecorder::draw_order(bool in_rounds, std::size_t number) const {
    // Each kind of order distinguishes other policies best. Sets with a deterministic policy repeat themselves with
    // each pass, some with hardly an eviction.
    const std::size_t kind = number % 4;
    if (in_rounds || kind == 3) return draw_rounds(probe_.random(), lines_.size(), visits_);
    if (kind == 0) return draw_similar_rounds(probe_.random(), lines_.size(), visits_);
    return draw_visits(probe_.random(), lines_.size(), kind == 1 ? visits_ : 1, visits_);
}

PolicyRun SetRecorder::record(std::uint64_t loads, std::size_t number) {
    Offsets sequence, visited(lines_.size(), 0);
    std::vector<std::uint32_t> numbers;
    const std::uint64_t word = probe_.question().word, apart = sector_ / visits_ / word * word;
    std::uint64_t fillers = 0, visit = 0;
    const bool in_rounds = !filler_.empty() || probe_.filtered();
    for (const auto line : draw_order(in_rounds, number)) {
        if (in_rounds && visited[line] > visit) fillers = 0, ++visit;
        sequence.push_back(lines_[line] + visited[line]++ * apart);
        numbers.push_back(static_cast<std::uint32_t>(line));
        for (std::uint64_t i = 0; i < fillers_per_line_; ++i, ++fillers, numbers.push_back(kFiller))
            sequence.push_back(filler_[fillers % filler_.size()] + visit * apart + fillers / filler_.size() * word);
    }
    const auto passes =
        static_cast<std::uint32_t>(std::max<std::uint64_t>(2, loads * (fillers_per_line_ + 1) / sequence.size()));
    const auto recorded = probe_.record(sequence, kWarmPasses, passes);
    PolicyRun run{{}, sequence.size() / (fillers_per_line_ + 1)};
    for (std::size_t at = 0; at < recorded.missed.size(); at += recorded.segment_loads) {
        const std::size_t end = std::min(recorded.missed.size(), at + recorded.segment_loads);
        TraceSegment segment;
        for (std::size_t i = at; i < end; ++i) {
            if (numbers[i % numbers.size()] == kFiller) continue;
            segment.lines.push_back(numbers[i % numbers.size()]);
            segment.missed.push_back(recorded.missed[i]);
            segment.outlier.push_back(recorded.outlier[i]);
        }
        outliers_ += static_cast<double>(std::count(segment.outlier.begin(), segment.outlier.end(), true));
        recorded_ += static_cast<double>(segment.outlier.size());
        remove_outliers(segment, run.pass_loads, probe_.outlier_rate());
        run.segments.push_back(std::move(segment));
    }
    return run;
}

double SetRecorder::miss_like_outlier_rate() const {
    // Outliers unlike misses are known; the others remain.
    const double all = probe_.outlier_rate();
    return std::max(all / kMissLikeOutliers, all - outliers_ / std::max(1.0, recorded_));
}

}  // namespace gputomo::deduce::cache
