#include "experiments/outstanding/surface.hpp"

#include "units/statistics.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gputomo::experiments {
namespace {

constexpr int kMostThreads = 1024;  ///< of a block; no GPU so far has larger ones
constexpr std::int64_t kLine = kInFlightLine;
constexpr std::int64_t kSector = 32;  ///< bytes that a miss fetches, on every GPU since Fermi
/// Lines of the first pass of a block: at least as many as a thread has accesses.
constexpr std::int64_t kWarmLines = 128;
/// The array takes this share of the L2, so that other data do not evict it. A smaller array is reused more often.
constexpr double kShareOfCache = 0.75;
/// Bounds of the array, in bytes. A pass over a larger one takes longer and measures nothing else.
constexpr std::int64_t kLargestArray = std::int64_t{16} << 20;
constexpr std::int64_t kSmallestArray = std::int64_t{2} << 20;
/// An array for launches from memory is `kTimesCache` times as large as the L2, so that a line is evicted before its
/// next use. It has at most `kLargestUncached` bytes.
constexpr std::int64_t kTimesCache = 4;
constexpr std::int64_t kLargestUncached = std::int64_t{256} << 20;

std::int64_t array_size(std::int64_t l2_bytes, bool in_memory) {
    if (in_memory || l2_bytes == 0) return std::clamp(kTimesCache * l2_bytes, kSmallestArray, kLargestUncached);
    const auto size = static_cast<std::int64_t>(kShareOfCache * static_cast<double>(l2_bytes));
    return std::min(size, kLargestArray) / kLine * kLine;
}

/// Bytes that the accesses of one thread span, in whole lines.
std::int64_t bytes_of_place(InFlightShape shape) {
    return (std::int64_t{shape.count} * shape.step + kLine - 1) / kLine * kLine;
}

/// Lines that all accesses of a block span.
std::int64_t lines_of(InFlightShape shape, const InFlightPattern& pattern, int threads) {
    if (pattern.one_line) return kWarmLines;
    if (pattern.shuffled) threads = kMostThreads;
    return std::int64_t{(threads + pattern.share - 1) / pattern.share} * (bytes_of_place(shape) / kLine);
}

/// Index of a thread's line among those of the block, if each thread had one access.
std::int64_t line_of(const InFlightPattern& pattern, int thread) {
    // An odd factor permutes 1024 lines and moves neighbours far apart.
    constexpr int kScatter = 421;
    if (pattern.one_line) return 0;
    const int place = pattern.shuffled ? (thread * kScatter + 7) % kMostThreads : thread;
    return place / pattern.share;
}

/// Whether the two fastest runs take nearly the same time: then neither has an outlier.
bool fastest_agree(std::vector<double> slowest) {
    // With a larger share two outliers could agree; with a smaller one jitter would repeat more points.
    constexpr double kNearly = 0.02;
    std::nth_element(slowest.begin(), slowest.begin() + 1, slowest.end());
    return slowest[1] - slowest[0] <= kNearly * slowest[0];
}

/// The median time of each warp over the runs, of the slowest warp. It stands in where every run has an outlier.
double slowest_usual(const std::vector<std::vector<double>>& runs) {
    double slowest = 0;
    for (std::size_t warp = 0; warp < runs.front().size(); ++warp) {
        std::vector<double> times;
        for (const auto& run : runs) times.push_back(run[warp]);
        slowest = std::max(slowest, median(std::move(times)));
    }
    return slowest;
}

double harmonic_mean(const std::vector<double>& values) {
    double inverse = 0;
    for (const double value : values) inverse += 1 / value;
    return static_cast<double>(values.size()) / inverse;
}

}  // namespace

InFlightSurface::InFlightSurface(device::Device& device, std::int64_t l2_bytes, bool in_memory, Outcome& outcome)
    : device_(device),
      outcome_(outcome),
      size_(array_size(l2_bytes, in_memory)),
      array_(device, Bytes{size_ + kWarmLines * kLine}),
      offsets_(device, Bytes{kMostThreads * 4}) {
    if (!in_memory && l2_bytes > 0) pass(InFlightAccess::load_far);
}

InFlight& InFlightSurface::kernel(InFlightShape shape) {
    auto& kept = kernels_[{shape.access, shape.count, shape.step}];
    if (!kept) {
        kept = std::make_unique<InFlight>(device_, shape);
        add_code_checks(kept->compiled(), outcome_);
    }
    return *kept;
}

InFlight* InFlightSurface::kernel_if_compiled(InFlightShape shape) {
    const std::pair key{shape.access, shape.count};
    if (refused_.contains(key)) return nullptr;
    try {
        return &kernel(shape);
    } catch (const CodeMismatch&) {
        if (shape.count == 1) throw;
        refused_.insert(key);
        outcome_.warnings.push_back(
            fmt::format("outstanding: launches with {} accesses of a thread ({}) are left out, because the driver's "
                        "compiler puts other instructions between the accesses",
                        shape.count, name_of(shape.access)));
        return nullptr;
    }
}

void InFlightSurface::write_offsets(InFlightShape shape, const InFlightPattern& pattern) {
    auto name = fmt::format("{} {} {} {} {} {} {}", shape.count, shape.step, pattern.share, pattern.sectors,
                            pattern.lanes, pattern.shuffled, pattern.one_line);
    if (name == written_) return;
    std::vector<std::uint32_t> offsets;
    for (int thread = 0; thread < kMostThreads; ++thread) {
        const std::int64_t sector = thread % pattern.share % pattern.sectors;
        const auto offset = line_of(pattern, thread) * bytes_of_place(shape) + sector * kSector;
        offsets.push_back(thread % kWarpSize < pattern.lanes ? static_cast<std::uint32_t>(offset) : kIdleThread);
    }
    offsets_.write(offsets);
    written_ = std::move(name);
}

void InFlightSurface::pass(InFlightAccess access) {
    // A thread reads each sector of its line, because a sectored cache fills only the sectors that a load asks for.
    constexpr InFlightShape kWholeLine{.count = kLine / kSector, .step = kSector};
    InFlightShape shape = kWholeLine;
    shape.access = access;
    write_offsets(shape, {});
    const auto threads =
        static_cast<int>(std::min<std::int64_t>(std::min(kMostThreads, most_threads(shape)), size_ / kLine));
    const std::int64_t step = kLine * threads;
    for (std::int64_t at = 0; at < size_; at += step) {
        const auto from = static_cast<device::Address>(std::min(at, size_ - step));
        kernel(shape).run(threads, array_.address() + from, array_.address() + static_cast<device::Address>(size_),
                          offsets_.address());
    }
}

std::int64_t InFlightSurface::take(std::int64_t bytes) {
    if (cursor_ + bytes > size_) {
        // Patterns that skip most of their lines do not evict each other from the SM's caches, but a pass over the
        // whole array does.
        if (loaded_ < size_ / 2) pass(InFlightAccess::load);
        cursor_ = 0;
        loaded_ = 0;
    }
    const auto at = cursor_;
    cursor_ += bytes;
    return at;
}

std::optional<InFlightPoint> InFlightSurface::measure(InFlightShape shape, const InFlightPattern& pattern,
                                                      int threads) {
    InFlight* const block = kernel_if_compiled(shape);
    if (block == nullptr) return std::nullopt;
    const std::int64_t needed = lines_of(shape, pattern, threads) * kLine;
    if (threads > block->most_threads() || needed > size_) return std::nullopt;
    std::vector<double> listed;
    std::vector<double> slowest;
    std::vector<std::vector<double>> warps;
    for (int run = 0; run < kMostRuns && (run < kRuns || !fastest_agree(slowest)); ++run) {
        const auto at = array_.address() + static_cast<device::Address>(take(needed));
        write_offsets(shape, pattern);
        const auto time = block->run(threads, at, array_.address() + static_cast<device::Address>(size_),
                                     offsets_.address(), Bytes{pattern.shared_bytes});
        if (!pattern.one_line) loaded_ += needed;
        if (run < kRuns) listed.push_back(time.barrier);
        slowest.push_back(*std::max_element(time.warps.begin(), time.warps.end()));
        warps.push_back(time.warps);
    }
    const double fastest = *std::min_element(slowest.begin(), slowest.end());
    return InFlightPoint{threads, harmonic_mean(listed),
                         fastest_agree(slowest) ? fastest : std::min(fastest, slowest_usual(warps))};
}

double InFlightSurface::of_one_place(InFlightShape shape) {
    write_offsets(shape, {.one_line = true});
    const auto warm = array_.address() + static_cast<device::Address>(size_);
    std::vector<double> runs;
    for (int run = 0; run < kRuns; ++run)
        runs.push_back(kernel(shape).run(kWarpSize, warm, warm, offsets_.address()).warps.front());
    return *std::min_element(runs.begin(), runs.end());
}

std::vector<double> neighbour_variance(const std::vector<double>& values) {
    std::vector<double> variance(values.size(), 0);
    for (std::size_t i = 1; i + 1 < values.size(); ++i) {
        const double mean = (values[i - 1] + values[i] + values[i + 1]) / 3;
        for (std::size_t j = i - 1; j <= i + 1; ++j) variance[i] += (values[j] - mean) * (values[j] - mean) / 2;
    }
    return variance;
}

}  // namespace gputomo::experiments
