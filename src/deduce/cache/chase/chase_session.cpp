#include "deduce/cache/chase/chase_session.hpp"

#include <algorithm>
#include <iterator>

namespace gputomo::deduce::cache {
namespace {

/// A sequence shows how long misses take if at least `kManyMisses` of its loads are slow and they are more than
/// `kMinSlowShare` of all. With fewer, outliers could outnumber the misses.
constexpr std::ptrdiff_t kManyMisses = 256;
constexpr double kMinSlowShare = 0.25;
/// The outlier rate comes from `kQuietReadings` hits in an array of at most `kQuietLines` lines: a rate of 1% is then
/// known to a tenth of itself. More readings sharpen it and cost as many loads for each level.
constexpr std::uint64_t kQuietLines = 8, kQuietReadings = 16384;
/// Passes over the small array before its hits count: enough for any policy to make a few lines resident.
constexpr std::uint32_t kQuietWarmPasses = 512;
/// The outlier rate is cut off here. A larger one means that the small array itself misses, and a deduction that
/// believed it would take every miss for an outlier.
constexpr double kMaxOutlierRate = 0.05;
/// Settling passes before anything is known; each group of lines that takes longer raises them.
constexpr std::uint32_t kFirstSettlingPasses = 4;

CacheQuestion with_probe_stride(CacheQuestion question) {
    if (question.probe_stride == 0) question.probe_stride = question.word;
    return question;
}

}  // namespace

ChaseSession::ChaseSession(const Chase& chase, const CacheQuestion& question)
    : chase_(chase),
      question_(with_probe_stride(question)),
      random_(question.seed),
      most_slow_(kMinSlowShare),
      settling_passes_(kFirstSettlingPasses) {}

ChaseTrace ChaseSession::run(const ChaseRequest& request, std::size_t keep_every) {
    const std::uint64_t loads = request.offsets.size() * (std::uint64_t{request.warm_passes} + request.recorded_passes);
    if (loads > loads_left()) throw BudgetExhausted();
    auto trace = chase_(request);
    loads_ += loads;
    auto& latencies = trace.latencies;
    if (keep_every > 1) {
        for (std::size_t i = 0; i * keep_every < latencies.size(); ++i) latencies[i] = latencies[i * keep_every];
        latencies.resize(latencies.size() / keep_every);
    }
    const auto slow =
        std::ranges::count_if(latencies, [this](double latency) { return latency > question_.threshold; });
    const double share = static_cast<double>(slow) / static_cast<double>(std::max<std::size_t>(1, latencies.size()));
    if (slow >= kManyMisses && share > most_slow_) {
        most_slow_ = share;
        miss_latencies_ = MissLatencies(latencies, question_.threshold);
    }
    return trace;
}

void ChaseSession::measure_hits(std::uint64_t origin) {
    if (hits_ > 0) return;
    const std::uint64_t stride = question_.probe_stride;
    const std::uint64_t lines =
        std::max<std::uint64_t>(1, std::min<std::uint64_t>(kQuietLines, question_.fits / 4 / stride));
    ChaseRequest request{strided(lines * stride, stride), kQuietWarmPasses,
                         static_cast<std::uint32_t>(kQuietReadings / lines)};
    for (auto& offset : request.offsets) offset += origin;
    const auto trace = run(request);
    hits_ = std::max<std::size_t>(1, trace.latencies.size());
    std::ranges::copy_if(trace.latencies, std::back_inserter(slow_hits_),
                         [this](double latency) { return latency > question_.threshold; });
}

double ChaseSession::outlier_rate(std::uint64_t origin) {
    measure_hits(origin);
    return std::min(kMaxOutlierRate, static_cast<double>(slow_hits_.size()) / static_cast<double>(hits_));
}

double ChaseSession::miss_like_outlier_rate(std::uint64_t origin) {
    measure_hits(origin);
    const auto similar =
        std::ranges::count_if(slow_hits_, [this](double latency) { return miss_latencies_.contains(latency); });
    return std::min(outlier_rate(origin), (static_cast<double>(similar) + 1) / static_cast<double>(hits_));
}

}  // namespace gputomo::deduce::cache
