// The highest bandwidth of memory, from streaming reads and copies by the whole GPU.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/bandwidth/streaming.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gputomo::experiments {
namespace dram_bandwidth {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.95;
/// Sizes double until two successive rates agree this well, or until one of the sizes below is reached.
constexpr double kStable = 0.005;
/// The size in bytes at which a small budget ends; simulating it takes a third of a second. A time limit instead would
/// let the speed of the host decide what is found.
constexpr std::int64_t kArrayOfSmallBudget = std::int64_t{32} << 20;
/// The largest array in bytes: 4 GiB take a millisecond on the fastest memories.
constexpr std::int64_t kLargestArray = std::int64_t{4} << 30;
/// The smallest array in bytes: several iterations of the loop on a small GPU.
constexpr std::int64_t kSmallestArray = std::int64_t{4} << 20;
/// Arrays are at least this many times the last cache, of which then little stays resident.
constexpr std::int64_t kTimesCache = 8;
/// Iterations of the loop over the smallest array.
constexpr std::int64_t kIterations = 8;
constexpr int kLaunches = 2;

struct Sizes {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

Sizes sizes_for(const Context& context) {
    const auto memory =
        context.device.attribute(device::Attribute::total_memory_bytes).value_or(std::int64_t{256} << 20);
    // Two arrays take at most half of the memory, which leaves the rest to others.
    const auto last = std::min(kLargestArray, memory / 4);
    return {std::min(last, std::max(kSmallestArray, kTimesCache * largest_cache(context))), last};
}

/// The smallest array over which each thread iterates several times: the first size times a power of two.
std::int64_t first_size(const Sizes& sizes, const Streaming& streaming) {
    std::int64_t size = sizes.first;
    while (size < kIterations * streaming.iteration_bytes() && 2 * size <= sizes.last) size *= 2;
    return size;
}

double rate_of(Streaming& streaming, Bytes size) {
    const auto timed = streaming.second_half(size, kLaunches);
    return static_cast<double>(timed.moved.count()) / timed.time.count();
}

struct Growth {
    std::vector<double> sizes;
    std::vector<double> rates;
};

Growth grow(Context& context, Streaming& streaming, Sizes sizes) {
    Growth growth;
    for (std::int64_t size = first_size(sizes, streaming); size <= sizes.last; size *= 2) {
        context.progress(0.5, fmt::format("{} of {} MiB", streaming.name(), size >> 20));
        const double rate = rate_of(streaming, Bytes{size});
        const bool stable = !growth.rates.empty() && std::abs(rate / growth.rates.back() - 1) < kStable;
        growth.sizes.push_back(static_cast<double>(size));
        growth.rates.push_back(rate);
        if (stable || (context.budget == Budget::small && size >= kArrayOfSmallBudget)) break;
    }
    return growth;
}

/// With half as many bytes in flight, a saturated memory gives at least this share of the rate; if latency is the
/// limit, it gives half.
constexpr double kSaturated = 0.7;

double quick_rate(Streaming& streaming, const Sizes& sizes) {
    const Bytes size{first_size(sizes, streaming)};
    return static_cast<double>(streaming.moved(size).count()) / streaming.run(size).count();
}

/// The rate with half as many bytes in flight (Little's law; Volkov 2016, 4.3).
double rate_with_half(Context& context, StreamKind kind, StreamShape shape, device::Address arrays,
                      const Sizes& sizes) {
    (shape.unroll > 1 ? shape.unroll : shape.threads) /= 2;
    Streaming half(context.device, kind, shape, arrays, Bytes{sizes.last});
    return quick_rate(half, sizes);
}

/// The rate, undecided if the device has too few bytes in flight to saturate the memory: then the rate is a lower
/// bound.
results::Estimate rate_estimate(StreamKind kind, double rate, double left, std::string method) {
    const auto path = fmt::format("memory.{}_bandwidth", kind == StreamKind::read ? "read" : "copy");
    const Measured measured{rate, 0.98 * rate, 1.02 * rate};
    if (left >= kSaturated) return decided_real(path, measured, {std::move(method), kConfidence});
    return undecided(path, {rate},
                     {std::move(method), kConfidence,
                      fmt::format("half as many bytes in flight give {:.2f} of it, so that latency is the limit and "
                                  "the memory may give more",
                                  left)});
}

/// The best shape on the smallest arrays, then larger arrays until the rate is steady.
results::Estimate best_rate(Context& context, StreamKind kind, device::Address arrays, Outcome& outcome) {
    const Sizes sizes = sizes_for(context);
    const auto shapes = streaming_shapes(context.device);
    std::size_t best = 0;
    double best_so_far = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        Streaming streaming(context.device, kind, shapes[i], arrays, Bytes{sizes.last});
        if (!streaming.fits()) continue;
        add_code_checks(streaming.compiled(), outcome);
        context.progress(0.4 * static_cast<double>(i) / static_cast<double>(shapes.size()), streaming.name());
        const double rate = quick_rate(streaming, sizes);
        if (rate > best_so_far) best = i;
        best_so_far = std::max(best_so_far, rate);
    }
    Streaming streaming(context.device, kind, shapes[best], arrays, Bytes{sizes.last});
    const Growth growth = grow(context, streaming, sizes);
    const auto name = kind == StreamKind::read ? "read" : "copy";
    results::Trace trace{.name = fmt::format("dram_bandwidth/{}", name), .experiment = "dram_bandwidth"};
    trace.columns = {{"size", "bytes", growth.sizes}, {"rate", "GB/s", growth.rates}};
    trace.plot = {fmt::format("DRAM {} bandwidth", name), "size", {"rate"}, true, false};
    outcome.traces.push_back(std::move(trace));
    return rate_estimate(kind, growth.rates.back(),
                         rate_with_half(context, kind, shapes[best], arrays, sizes) / best_so_far,
                         fmt::format("dram_bandwidth: {}, arrays doubled until the rate was steady", streaming.name()));
}

void add_peak(const device::Device& device, Outcome& outcome) {
    using enum device::Attribute;
    const auto khz = device.attribute(memory_clock_rate_khz);
    const auto bits = device.attribute(memory_bus_width_bits);
    if (!khz || !bits || *khz <= 0 || *bits <= 0) return;
    // Two transfers per clock; GB/s = bytes x kHz / 1e6. The driver reports whole kHz.
    const double of_khz = 2.0 * static_cast<double>(*bits) / 8 / 1e6, peak = of_khz * static_cast<double>(*khz);
    auto estimate = decided("memory.peak_bandwidth", peak,
                            {"device attributes: bus width x memory clock x 2", kAttributeConfidence});
    estimate.interval = {peak - of_khz, peak + of_khz};
    outcome.estimates.push_back(std::move(estimate));
}

Outcome measure(Context& context) {
    Outcome outcome;
    add_peak(context.device, outcome);
    const Sizes sizes = sizes_for(context);
    const device::Buffer arrays(context.device, Bytes{2 * sizes.last});
    for (const StreamKind kind : {StreamKind::read, StreamKind::copy})
        outcome.estimates.push_back(best_rate(context, kind, arrays.address(), outcome));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace dram_bandwidth

Experiment dram_bandwidth_experiment() {
    return {.id = "dram_bandwidth",
            .title = "streaming read and copy bandwidth of the whole GPU",
            .source = "Volkov 2016, 6.2; Little's law for bytes in flight",
            .method = "memory-and-bandwidth",
            .explanation =
                "All SMs stream through an array several times the size of the caches, with more and more bytes in "
                "flight. The bandwidth follows from the difference in time between the array and its half.",
            .needs = {},
            .after = {"caches"},
            .provides = {"memory.peak_bandwidth", "memory.read_bandwidth", "memory.copy_bandwidth"},
            .run = dram_bandwidth::run};
}

}  // namespace gputomo::experiments
