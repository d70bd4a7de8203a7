#include "measure/chase/translation_chase.hpp"

#include "measure/chase/unfiltered_line_chase.hpp"
#include "units/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>
#include <utility>

namespace gputomo::measure {
namespace {

/// Neighbours of a tour lie so far apart in their pages: in different lines of any cache, and in different words on a
/// later visit.
constexpr std::uint64_t kSpread = 256 + 8;
/// The same for textures, whose first cache is small: all lie in one of its sets.
constexpr std::uint64_t kTextureSpread = 256 + 4;
constexpr std::uint64_t kLongestLine = 256;
/// Of a plain array's page, the part that is surely one page.
constexpr std::uint64_t kSmallPage = 4096;
constexpr std::uint64_t kLinesOfPage = kSmallPage / kLongestLine;
/// Data take at most this share of the last cache, or so many times its capacity; in between neither all hit nor all
/// miss.
constexpr std::uint64_t kFittingShare = 8, kTimesCapacity = 2;
constexpr std::uint64_t kFewPages = 4;
/// Lines of a page that a texture chase visits, the same of every page: of a few pages they overflow the one set of the
/// first cache in which they lie, and the caches behind keep all of a page's or none. An odd number, so that where the
/// clock steps in two cycles the first load of a page doesn't always begin at the same part of a step.
constexpr std::uint64_t kTextureLines = 5;
/// Readings of one element that differ by less are the same but for jitter: a TLB's miss costs more.
constexpr double kJitter = 7;
/// Laps whose median an element's readings become, as many as short tours have time for: on an H200 a load of the L2
/// reads 2 cycles more or less (standard deviation), and the first TLB's miss costs ten.
constexpr std::uint64_t kFewestCalmLaps = 3, kCalmLaps = 9, kCalmLoads = 4096;
/// Share and cycles by which the cost of a cache miss varies.
constexpr double kMissCostSpread = 0.02, kMissCostCycles = 4;
/// Windows start where an entry does, however much it spans. In aliased windows the start must be a mapping as well:
/// the last one before that address.
constexpr std::uint64_t kAlignment = std::uint64_t{1} << 30;
}  // namespace

MappedWindow MappedWindow::aliased(device::Device& device, std::uint64_t word, std::uint64_t count) {
    const std::uint64_t bytes = word * count + kAlignment;
    const auto begin = device.map_aliased(device.mapping_granularity(), Bytes{static_cast<std::int64_t>(word)},
                                          Bytes{static_cast<std::int64_t>(bytes)});
    const std::uint64_t until_aligned = (kAlignment - begin % kAlignment) % kAlignment;
    return {device, begin, {begin + until_aligned / word * word, word * count, word, true}};
}

MappedWindow MappedWindow::plain(device::Device& device, std::uint64_t bytes, std::uint64_t word,
                                 std::uint64_t alignment) {
    const auto begin = device.allocate(Bytes{static_cast<std::int64_t>(bytes + alignment)});
    return {device, begin, {(begin + alignment - 1) / alignment * alignment, bytes, word, false}};
}

MappedWindow::MappedWindow(MappedWindow&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)), begin_(other.begin_), window_(other.window_) {}

MappedWindow::~MappedWindow() {
    if (device_ != nullptr) device_->free(begin_);
}

ArrayPlace MappedWindow::place(LoadHint hint) const {
    const auto page = window_.aliased ? static_cast<std::uint64_t>(device_->mapping_granularity().count()) : kSmallPage;
    ArrayPlace place{.base = window_.base, .spread = kSpread, .page = page, .aliased = window_.aliased};
    if (hint != LoadHint::texture) return place;
    place.spread = kTextureSpread;
    place.by_page = false;
    place.texture = device_->linear_texture(window_.base, Bytes{static_cast<std::int64_t>(window_.bytes)},
                                            device::TexelFormat::u32);
    return place;
}

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
    const bool fits = request.offsets.size() * kLongestLine <= caches_.capacity / kFittingShare;
    return caches_.capacity == 0 || fits ? less_constant(request) : first_of_page(request);
}

deduce::ChaseTrace TranslationChase::less_single_page(const deduce::ChaseRequest& request) {
    const std::size_t size = request.offsets.size();
    const auto passes = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(kCalmLoads / std::max<std::size_t>(1, size) | 1, kFewestCalmLaps, kCalmLaps));
    deduce::ChaseRequest longer = request;
    if (passes > kFewestCalmLaps) longer.recorded_laps = std::max(request.recorded_laps, passes);
    auto trace = array_(longer);
    // The array gives each position of a tour its word of the page, whatever the offset.
    const deduce::ChaseRequest in_one_page{std::vector<std::uint64_t>(size, 0), 1, passes};
    const auto reference = medians_of_elements(array_(in_one_page).latencies, passes);
    for (std::size_t i = 0; i < trace.latencies.size(); ++i) trace.latencies[i] -= reference[i % size];
    smooth_jitter(trace, size);
    trace.latencies.resize(std::min(trace.latencies.size(), size * request.recorded_laps));
    return trace;
}

void TranslationChase::smooth_jitter(deduce::ChaseTrace& trace, std::size_t size) {
    const std::size_t passes = trace.latencies.size() / std::max<std::size_t>(1, size);
    if (passes < kFewestCalmLaps) return;
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
    deduce::ChaseRequest expanded{{}, request.warm_laps, request.recorded_laps};
    for (const auto offset : request.offsets)
        for (std::uint64_t line = 0; line < lines; ++line) expanded.offsets.push_back(offset);
    return in_one_page_window(expanded).latencies;
}

deduce::ChaseTrace TranslationChase::first_of_page(const deduce::ChaseRequest& request) {
    const std::uint64_t wanted =
        kTimesCapacity * caches_.capacity / kLongestLine / std::max<std::uint64_t>(1, request.offsets.size());
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

namespace {

/// Of a few dozen, which a tree would take longer for.
void insert(std::vector<std::uint64_t>& few, std::uint64_t value) {
    if (std::ranges::find(few, value) == few.end()) few.push_back(value);
}

}  // namespace

UnfilteredTlbChase::UnfilteredTlbChase(TranslationChase& chase, std::vector<UpperTlb> upper, std::uint64_t span)
    : chase_(&chase), upper_(std::move(upper)), span_(span) {
    for (const auto& tlb : upper_) step_ = std::lcm(step_, tlb.sets * tlb.span);
}

std::uint64_t UnfilteredTlbChase::end() const {
    std::uint64_t evicting_entries = 0;
    for (const auto& tlb : upper_) evicting_entries = std::max(evicting_entries, tlb.evicting_entries);
    const std::uint64_t neighbours = 2 * (evicting_entries + 8) * step_;
    return span_ > 2 * neighbours ? span_ - neighbours : 0;
}

std::uint64_t UnfilteredTlbChase::missing_fillers(const UpperTlb& upper, const Places& sequence,
                                                  const std::vector<Places>& fillers, std::size_t at,
                                                  std::unordered_set<std::uint64_t>& between) const {
    const std::uint64_t own = sequence[at] / upper.span;
    Places entries;
    const auto add = [&](std::uint64_t offset) {
        if (offset / upper.span != own && (offset / upper.span) % upper.sets == own % upper.sets)
            insert(entries, offset / upper.span);
        between.insert(offset);
    };
    for (std::size_t i = at; i < at + sequence.size() && entries.size() < upper.evicting_entries; ++i) {
        const std::size_t load = i % sequence.size();
        if (i > at && sequence[load] / upper.span == own) break;
        add(sequence[load]);
        for (const auto offset : fillers[load]) add(offset);
    }
    return upper.evicting_entries - std::min<std::uint64_t>(upper.evicting_entries, entries.size());
}

std::vector<UnfilteredTlbChase::Places> UnfilteredTlbChase::filler_loads(const Places& sequence) const {
    std::unordered_set<std::uint64_t> taken;
    for (const auto offset : sequence) taken.insert(offset / step_);
    std::vector<Places> fillers(sequence.size());
    std::unordered_set<std::uint64_t> between;
    // From the last load on, so that what comes before an entry's return is known but for the next lap's begin.
    for (std::size_t at = sequence.size(); at-- > 0;) {
        std::uint64_t missing = 0;
        between.clear();
        for (const auto& tlb : upper_)
            missing = std::max(missing, missing_fillers(tlb, sequence, fillers, at, between));
        const auto try_place = [&](std::uint64_t offset) {
            if (missing == 0 || taken.contains(offset / step_) || !between.insert(offset).second) return;
            fillers[at].push_back(offset);
            --missing;
        };
        for_each_filler_distance(span_ / step_, [&](std::uint64_t ways) {
            const std::uint64_t distance = ways * step_;
            if (sequence[at] + distance < span_) try_place(sequence[at] + distance);
            if (distance <= sequence[at]) try_place(sequence[at] - distance);
            return missing == 0;
        });
    }
    return fillers;
}

deduce::ChaseTrace UnfilteredTlbChase::operator()(const deduce::ChaseRequest& request) {
    const auto fillers = filler_loads(request.offsets);
    deduce::ChaseRequest unhidden{{}, request.warm_laps, request.recorded_laps};
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < request.offsets.size(); ++i) {
        positions.push_back(unhidden.offsets.size());
        unhidden.offsets.push_back(request.offsets[i]);
        unhidden.offsets.insert(unhidden.offsets.end(), fillers[i].begin(), fillers[i].end());
    }
    const auto all = (*chase_)(unhidden).latencies;
    deduce::ChaseTrace trace;
    for (std::size_t pass = 0; pass < all.size(); pass += unhidden.offsets.size())
        for (const auto position : positions) trace.latencies.push_back(all[pass + position]);
    return trace;
}

}  // namespace gputomo::measure
