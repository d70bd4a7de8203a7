#include "measure/chase/translation_chase.hpp"

#include "units/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::measure {
namespace {

/// No GPU so far has longer cache lines.
constexpr std::uint64_t kLongestDataLine = 256;
constexpr std::uint64_t kLinesOfPage = MappedWindow::kSmallPage / kLongestDataLine;
/// Data must take at most this share of the last cache (all loads hit), or at least this many times its capacity (all
/// miss). In between some hit and some miss.
constexpr std::uint64_t kFittingShare = 8, kTimesCapacity = 2;
/// Pages whose translations fit any TLB. Their latency is the reference for plain arrays.
constexpr std::uint64_t kFewPages = 4;
/// Lines of each page that a texture chase visits, the same ones in every page. A few pages overflow the one set of
/// the first cache that holds them, and the caches below keep all lines of a page or none. The number is odd so that,
/// with a clock step of two cycles, the first load of a page begins at different parts of a step.
constexpr std::uint64_t kTextureLines = 5;
/// Readings of one element that differ by at most these cycles differ by jitter only: a TLB miss costs more.
constexpr double kJitter = 7;
/// Passes whose median replaces an element's readings, and the loads that bound them: short sequences have time for
/// more passes. On an H200 an L2 load reads 2 cycles more or less (standard deviation), and a miss of the first TLB
/// costs ten.
constexpr std::uint64_t kFewestSmoothedPasses = 3, kSmoothedPasses = 9, kSmoothedLoads = 4096;
/// Share and cycles by which the cost of a cache miss varies.
constexpr double kMissCostSpread = 0.02, kMissCostCycles = 4;

}  // namespace

TranslationChase::TranslationChase(const Run& run, const MappedWindow& mapped, DataCaches caches, LoadHint hint,
                                   PageWindows page_windows)
    : window_(mapped.window()),
      caches_(caches),
      hint_(hint),
      page_windows_(page_windows),
      clock_step_(run.clock_step),
      array_(run, mapped.place(hint), hint) {
    if (window_.aliased || hint == LoadHint::texture) return;
    const auto few = deduce::strided(kFewPages * window_.word, window_.word);
    cached_ = median(array_({few, 4, 16}).latencies);
}

deduce::Chase TranslationChase::chase() {
    return [this](const deduce::ChaseRequest& request) { return (*this)(request); };
}

deduce::ChaseTrace TranslationChase::operator()(const deduce::ChaseRequest& request) {
    if (window_.aliased) return less_single_page(request);
    if (hint_ == LoadHint::texture) return less_own_page(request);
    const bool fits = request.offsets.size() * kLongestDataLine <= caches_.capacity / kFittingShare;
    return caches_.capacity == 0 || fits ? less_constant(request) : first_of_page(request);
}

deduce::ChaseTrace TranslationChase::less_single_page(const deduce::ChaseRequest& request) {
    const std::size_t size = request.offsets.size();
    const auto passes = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        kSmoothedLoads / std::max<std::size_t>(1, size) | 1, kFewestSmoothedPasses, kSmoothedPasses));
    deduce::ChaseRequest longer = request;
    if (passes > kFewestSmoothedPasses) longer.recorded_passes = std::max(request.recorded_passes, passes);
    auto trace = array_(longer);
    // ChaseArray gives each position of a sequence its own word of the page, whatever the offset.
    const deduce::ChaseRequest in_one_page{std::vector<std::uint64_t>(size, 0), 1, passes};
    const auto reference = medians_of_elements(array_(in_one_page).latencies, passes);
    for (std::size_t i = 0; i < trace.latencies.size(); ++i) trace.latencies[i] -= reference[i % size];
    smooth_jitter(trace, size);
    trace.latencies.resize(std::min(trace.latencies.size(), size * request.recorded_passes));
    return trace;
}

void TranslationChase::smooth_jitter(deduce::ChaseTrace& trace, std::size_t size) {
    const std::size_t passes = trace.latencies.size() / std::max<std::size_t>(1, size);
    if (passes < kFewestSmoothedPasses) return;
    std::vector<double> readings(passes);
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t pass = 0; pass < passes; ++pass) readings[pass] = trace.latencies[pass * size + i];
        const double middle = median(readings);
        for (std::size_t pass = 0; pass < passes; ++pass)
            if (std::abs(readings[pass] - middle) <= kJitter) trace.latencies[pass * size + i] = middle;
    }
}

void TranslationChase::remove_data_outliers(deduce::ChaseTrace& trace) const {
    if (caches_.miss_cost <= 0) return;
    const double upper = kMissCostSpread * caches_.miss_cost + kMissCostCycles;
    for (double& effort : trace.latencies) {
        if (std::abs(effort - caches_.miss_cost) <= upper)
            effort -= caches_.miss_cost;
        else if (effort < -upper)
            effort += caches_.miss_cost;
    }
}

deduce::ChaseTrace TranslationChase::in_one_page_window(const deduce::ChaseRequest& request) {
    auto trace = array_(request);
    if (page_windows_.bytes == 0) return trace;
    const auto& offsets = request.offsets;
    for (std::size_t i = 0; i < trace.latencies.size(); ++i) {
        const std::size_t load = i % offsets.size(), before = (load + offsets.size() - 1) % offsets.size();
        if (offsets[load] / page_windows_.bytes != offsets[before] / page_windows_.bytes)
            trace.latencies[i] -= page_windows_.penalty;
    }
    return trace;
}

deduce::ChaseTrace TranslationChase::less_constant(const deduce::ChaseRequest& request) {
    auto trace = in_one_page_window(request);
    for (double& latency : trace.latencies) latency -= cached_;
    remove_data_outliers(trace);
    return trace;
}

std::vector<double> TranslationChase::all_of_pages(const deduce::ChaseRequest& request, std::uint64_t lines) {
    deduce::ChaseRequest expanded{{}, request.warm_passes, request.recorded_passes};
    for (const auto offset : request.offsets)
        for (std::uint64_t line = 0; line < lines; ++line) expanded.offsets.push_back(offset);
    return in_one_page_window(expanded).latencies;
}

deduce::ChaseTrace TranslationChase::first_of_page(const deduce::ChaseRequest& request) {
    const std::uint64_t wanted =
        kTimesCapacity * caches_.capacity / kLongestDataLine / std::max<std::uint64_t>(1, request.offsets.size());
    const std::uint64_t lines = std::clamp<std::uint64_t>(wanted, 4, kLinesOfPage);
    const auto all = all_of_pages(request, lines);
    deduce::ChaseTrace trace;
    std::vector<double> others;
    for (std::size_t i = 0; i < all.size(); ++i) (i % lines == 0 ? trace.latencies : others).push_back(all[i]);
    const double data = median(others);
    for (double& latency : trace.latencies) latency -= data;
    remove_data_outliers(trace);
    return trace;
}

deduce::ChaseTrace TranslationChase::less_own_page(const deduce::ChaseRequest& request) {
    constexpr std::uint64_t lines = kTextureLines;
    const auto all = all_of_pages(request, lines);
    deduce::ChaseTrace trace;
    for (std::size_t i = 0; i + lines <= all.size(); i += lines) {
        const std::vector<double> others(all.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                         all.begin() + static_cast<std::ptrdiff_t>(i + lines));
        trace.latencies.push_back(all[i] - mean_near_median(others, clock_step_));
    }
    return trace;
}

}  // namespace gputomo::measure
