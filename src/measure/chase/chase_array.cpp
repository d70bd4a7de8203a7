#include "measure/chase/chase_array.hpp"

#include "measure/chase/pointer_chase_kernels.hpp"
#include "measure/chase/settled_latency.hpp"
#include "units/statistics.hpp"

#include <algorithm>
#include <unordered_map>

namespace gputomo::measure {
namespace {

/// Shared memory that a chase past the L1 may fill with records. Every GPU allows a block 48 KiB without opting in.
constexpr std::int64_t kMostShared = 48 * 1024;
/// The system takes 1 KiB of a block's shared memory on current GPUs.
constexpr std::int64_t kSharedLeftFree = 1024;
/// Most loads that a launch replays before it records, where launches empty a cache. A launch replays what the first
/// launch walked, and at least two passes. No L1 so far holds more than 32,768 words of 8 bytes.
constexpr std::uint32_t kMostReplayed = 32768;
/// Elements of the calibration ring: few enough lines for any cache.
constexpr std::uint32_t kRing = 16;
/// If loads are slower by more than these cycles than when warm, their data had left the cache.
constexpr double kEmptied = 8;

/// Chases that may hit the L1 record little at a time, to leave the L1 its share of the memory. The texture cache may
/// be the same array. Other chases record as much as they can.
PointerChase::Shape shape_for(const Run& run, const ArrayPlace& place, LoadHint hint) {
    PointerChase::Shape shape{.hint = hint, .texture_base = place.base, .texture = place.texture};
    shape.start_to_start = run.clock_step > 1;
    if (hint == LoadHint::all || hint == LoadHint::texture) return shape;
    const auto shared = run.device.attribute(device::Attribute::max_shared_memory_per_block).value_or(16384);
    shape.records = static_cast<std::uint32_t>((std::min(shared, kMostShared) - kSharedLeftFree) / kRecordBytes);
    return shape;
}

/// A number that differs between pages that are any power of two pages apart. Multiples of the page number itself do
/// not differ, modulo the page.
std::uint64_t folded(std::uint64_t page) {
    // Bits of the page number that are added up at a time: 16 places for neighbouring pages.
    constexpr int kPlacesLog2 = 4;
    std::uint64_t sum = 0;
    for (; page != 0; page >>= kPlacesLog2) sum += page;
    return sum;
}

}  // namespace

ChaseArray::ChaseArray(const Run& run, ArrayPlace place, LoadHint hint)
    : run_(run), place_(place), chase_(run.device, shape_for(run, place, hint)) {
    std::vector<device::Address> ring;
    for (std::uint64_t i = 0; i < kRing; ++i) ring.push_back(place_.base + i * place_.ring_stride);
    chase_.write_cycle(ring);
    chase_.calibrate(ring.front(), kRing);
    detect_emptied_caches(ring);
}

void ChaseArray::detect_emptied_caches(const std::vector<device::Address>& ring) {
    const auto warm = chase_.latencies_of_cycle(ring, 4 * kRing, kRing, 0);
    const auto next = chase_.latencies_of_cycle(ring, 0, kRing, 0);
    launches_empty_caches_ = summarise(next).value > summarise(warm).value + kEmptied;
}

void ChaseArray::describe(double fraction, std::string what) {
    fraction_ = fraction;
    what_ = std::move(what);
}

deduce::Chase ChaseArray::chase() {
    return [this](const deduce::ChaseRequest& request) { return (*this)(request); };
}

std::vector<device::Address> ChaseArray::place_elements(const std::vector<std::uint64_t>& offsets) const {
    std::vector<device::Address> order;
    order.reserve(offsets.size());
    std::unordered_map<std::uint64_t, std::uint64_t> visits;  // visits of a page
    for (const auto offset : offsets) {
        const std::uint64_t page = offset / place_.page;
        const std::uint64_t number = place_.spread == 0 ? 0
                                     : place_.aliased   ? order.size()
                                                        : (place_.by_page ? folded(page) : 0) + visits[page]++;
        order.push_back(place_.base + offset + number * place_.spread % place_.page);
    }
    return order;
}

std::uint32_t ChaseArray::replayed_for(std::size_t elements, std::uint64_t warm) const {
    // Storing the records of the previous launch may have pushed some of the array out of a cache. One pass brings it
    // back.
    if (!launches_empty_caches_) return elements <= kMostReplayed ? static_cast<std::uint32_t>(elements) : 0;
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(warm, std::min<std::uint64_t>(2 * elements, kMostReplayed), kMostReplayed));
}

deduce::ChaseTrace ChaseArray::operator()(const deduce::ChaseRequest& request) {
    run_.progress(fraction_, what_);
    const auto order = write(request.offsets);
    return {chase_.latencies_of_cycle(order, std::uint64_t{request.warm_passes} * order.size(),
                                      std::uint64_t{request.recorded_passes} * order.size(),
                                      replayed_for(order.size(), std::uint64_t{request.warm_passes} * order.size())),
            chase_.loads_a_launch()};
}

std::optional<double> ChaseArray::mean(const std::vector<std::uint64_t>& offsets, std::uint64_t first,
                                       std::uint64_t warm, std::uint64_t loads, std::optional<std::uint32_t> sm) {
    // Their median is free of a single disturbed run.
    constexpr int kRuns = 3;
    run_.progress(fraction_, what_);
    const auto order = write(offsets);
    if (chase_.disturbed()) return disturbed_mean(order, first, warm, loads, sm);
    const std::uint64_t granularity = chase_.average_granularity();
    const std::uint64_t timed = (loads + granularity - 1) / granularity * granularity;
    // No run starts where an earlier run left its traces in a cache.
    const auto run_start = [&](int run) {
        return order[(first + static_cast<std::uint64_t>(run) * (warm + timed)) % order.size()];
    };
    std::vector<double> means;
    for (int i = 0; i < kRuns; ++i) {
        const auto mean = chase_.average({.start = run_start(2 * i),
                                          .start_again = run_start(2 * i + 1),
                                          .warm = static_cast<std::uint32_t>(warm),
                                          .loads = static_cast<std::uint32_t>(timed),
                                          .sm = sm});
        if (!mean) return std::nullopt;
        means.push_back(*mean);
    }
    return summarise(means).value;
}

std::optional<double> ChaseArray::disturbed_mean(std::vector<device::Address> order, std::uint64_t first,
                                                 std::uint64_t warm, std::uint64_t loads,
                                                 std::optional<std::uint32_t> sm) {
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first % order.size()), order.end());
    const auto run = [&] {
        return chase_.latencies_of_cycle(order, warm, loads, replayed_for(order.size(), warm), sm);
    };
    const auto settled = settled_latency(run, run_.clock_step);
    return settled ? std::optional(settled->mean) : std::nullopt;
}

std::vector<double> ChaseArray::latencies(const std::vector<std::uint64_t>& offsets, std::uint64_t warm,
                                          std::uint64_t loads, std::optional<std::uint32_t> sm) {
    run_.progress(fraction_, what_);
    const auto order = write(offsets);
    return chase_.latencies_of_cycle(order, warm, loads, replayed_for(order.size(), warm), sm);
}

std::vector<device::Address> ChaseArray::write(const std::vector<std::uint64_t>& offsets) {
    auto order = place_elements(offsets);
    chase_.write_cycle(order);
    return order;
}

std::vector<double> ChaseArray::on_sm(const std::vector<device::Address>& written, std::uint64_t first,
                                      std::uint64_t warm, std::uint64_t loads, std::uint32_t sm) {
    run_.progress(fraction_, what_);
    const std::uint64_t begin = first % written.size();
    // The list needs one element beyond the last visited one, which the last load returns. Clocks that step in several
    // cycles read one load more.
    if (begin + warm + loads + 2 <= written.size())
        return chase_.latencies_of_cycle(std::span(written).subspan(begin), warm, loads, 0, sm);
    auto order = written;
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(begin), order.end());
    return chase_.latencies_of_cycle(order, warm, loads, replayed_for(order.size(), warm), sm);
}

}  // namespace gputomo::measure
