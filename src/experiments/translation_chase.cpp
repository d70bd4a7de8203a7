#include "experiments/translation_chase.hpp"

#include "deduce/statistics.hpp"

#include <algorithm>
#include <utility>

namespace gputomo::experiments {
namespace {

/// Neighbours of a tour lie so far apart in their pages: in different lines of any cache, and in different words on a later visit.
constexpr std::uint64_t kSpread = 256 + 8;
constexpr std::uint64_t kLongestLine = 256;
/// Of a plain array's page, the part that is surely one page.
constexpr std::uint64_t kSmallPage = 4096;
constexpr std::uint64_t kLinesOfPage = kSmallPage / kLongestLine;
/// Data take at most this share of the last cache, or so many times its capacity; in between neither all hit nor all miss.
constexpr std::uint64_t kFittingShare = 8, kTimesCapacity = 2;
constexpr std::uint64_t kFewPages = 4;
/// Words of the flood's pages, for as many visits.
constexpr std::uint64_t kFloodRoom = 2048;
constexpr std::uint64_t kVisitsOfPage = kSmallPage / 8 / kLinesOfPage;

std::uint64_t flood_step(const Window& window, std::uint64_t span) { return span + 3 * window.word; }

std::uint64_t flood_room(const Window& window, std::uint64_t entries, std::uint64_t span) {
    return (2 * entries + 2) * flood_step(window, span) + (window.aliased ? 0 : kFloodRoom * window.word);
}

}  // namespace

MappedWindow MappedWindow::aliased(device::Device& device, std::uint64_t word, std::uint64_t count) {
    const auto stride = static_cast<std::int64_t>(word);
    const Bytes bytes{stride * static_cast<std::int64_t>(count)};
    return {device, {device.map_aliased(device.mapping_granularity(), Bytes{stride}, bytes), word * count, word, true}};
}

MappedWindow MappedWindow::plain(device::Device& device, std::uint64_t bytes, std::uint64_t word) {
    return {device, {device.allocate(Bytes{static_cast<std::int64_t>(bytes)}), bytes, word, false}};
}

MappedWindow::MappedWindow(MappedWindow&& other) noexcept : device_(std::exchange(other.device_, nullptr)), window_(other.window_) {}

MappedWindow::~MappedWindow() {
    if (device_ != nullptr) device_->free(window_.base);
}

ArrayPlace MappedWindow::place() const {
    const auto page = window_.aliased ? static_cast<std::uint64_t>(device_->mapping_granularity().count()) : kSmallPage;
    return {.base = window_.base, .spread = kSpread, .spread_span = page};
}

TranslationChase::TranslationChase(Context& context, const MappedWindow& mapped, DataCaches caches)
    : window_(mapped.window()), caches_(caches), array_(context, mapped.place(), LoadHint::l2_only) {
    if (window_.aliased) return;
    const auto few = deduce::strided(kFewPages * window_.word, window_.word);
    cached_ = deduce::median(array_({few, 4, 16}).latencies);
}

deduce::Chase TranslationChase::chase() {
    return [this](const deduce::ChaseRequest& request) { return (*this)(request); };
}

deduce::ChaseTrace TranslationChase::operator()(const deduce::ChaseRequest& request) {
    if (window_.aliased) return less_single_page(request);
    const bool fits = request.offsets.size() * kLongestLine <= caches_.capacity / kFittingShare;
    return caches_.capacity == 0 || fits ? less_constant(request) : first_of_page(request);
}

deduce::ChaseTrace TranslationChase::less_single_page(const deduce::ChaseRequest& request) {
    auto trace = array_(request);
    // The array gives each position of a tour its word of the page, whatever the offset.
    const deduce::ChaseRequest in_one_page{std::vector<std::uint64_t>(request.offsets.size(), 0), 1, 3};
    const auto reference = array_(in_one_page).latencies;
    const std::size_t size = request.offsets.size();
    for (std::size_t i = 0; i < trace.latencies.size(); ++i) {
        const std::size_t at = i % size;
        trace.latencies[i] -= deduce::median({reference[at], reference[at + size], reference[at + 2 * size]});
    }
    return trace;
}

deduce::ChaseTrace TranslationChase::less_constant(const deduce::ChaseRequest& request) {
    auto trace = array_(request);
    for (double& latency : trace.latencies) latency -= cached_;
    return trace;
}

deduce::ChaseTrace TranslationChase::first_of_page(const deduce::ChaseRequest& request) {
    const std::uint64_t wanted = kTimesCapacity * caches_.capacity / kLongestLine / std::max<std::uint64_t>(1, request.offsets.size());
    const std::uint64_t lines = std::clamp<std::uint64_t>(wanted, 4, kLinesOfPage);
    deduce::ChaseRequest expanded{{}, request.warm_laps, request.recorded_laps};
    for (const auto offset : request.offsets)
        for (std::uint64_t line = 0; line < lines; ++line) expanded.offsets.push_back(offset);
    const auto all = array_(expanded).latencies;
    deduce::ChaseTrace trace;
    std::vector<double> others;
    for (std::size_t i = 0; i < all.size(); ++i) (i % lines == 0 ? trace.latencies : others).push_back(all[i]);
    const double data = deduce::median(others);
    for (double& latency : trace.latencies) latency -= data;
    return trace;
}

FloodedChase::FloodedChase(TranslationChase& chase, std::uint64_t entries, std::uint64_t span) : chase_(&chase) {
    const Window& window = chase.window();
    begin_ = (window.bytes - flood_room(window, entries, span)) / span * span;
    const std::uint64_t start = begin_ + 37 * window.word % span;
    for (std::uint64_t i = 0; i < 2 * entries; ++i) flood_.push_back(start + i * flood_step(window, span));
}

bool FloodedChase::fits(const Window& window, std::uint64_t entries, std::uint64_t span) {
    return flood_room(window, entries, span) < window.bytes / 2;
}

deduce::ChaseTrace FloodedChase::operator()(const deduce::ChaseRequest& request) {
    const std::size_t group = flood_.size() + 1;
    const Window& window = chase_->window();
    deduce::ChaseRequest flooded{{}, request.warm_laps, request.recorded_laps};
    for (std::size_t i = 0; i < request.offsets.size(); ++i) {
        // When a plain page has no more words, the next one serves.
        const std::uint64_t shift = window.aliased ? 0 : i / kVisitsOfPage % kFloodRoom * window.word;
        for (const auto offset : flood_) flooded.offsets.push_back(offset + shift);
        flooded.offsets.push_back(request.offsets[i]);
    }
    const auto all = (*chase_)(flooded).latencies;
    deduce::ChaseTrace trace;
    for (std::size_t i = group - 1; i < all.size(); i += group) trace.latencies.push_back(all[i]);
    return trace;
}

}  // namespace gputomo::experiments
