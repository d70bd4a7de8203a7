// Time of copies right after the same copy and after a flush of the caches. The size at which the gain stops growing is
// the capacity of the last cache.
#include "experiments/experiments.hpp"

#include "deduce/series/gain_limit.hpp"
#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/bandwidth/streaming.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <span>

namespace gputomo::experiments {
namespace l2_copy {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// Each thread copies one element (Lashgar 2015, 3.3).
constexpr std::int64_t kElement = 8;
constexpr std::int64_t kThreads = 256;
/// Bytes of source and destination together: all sizes are multiples of this.
constexpr std::int64_t kUnit = 2 * kElement * kThreads;
/// The sweep doubles from `kSmallest` bytes on, up to a multiple of the cache that the driver reports. Then it goes in
/// steps of 1/16 of the size with the largest gain.
constexpr std::int64_t kSmallest = std::int64_t{64} << 10;
constexpr std::int64_t kTimesCache = 4;
constexpr std::int64_t kFine = 16;
/// Bytes that are read to flush a cache, as a multiple of its reported size.
constexpr std::int64_t kFlush = 3;
/// Most runs of each copy; fewer suffice if two differ by less than `kAlike`. The fastest counts.
constexpr int kRuns = 9, kQuickRuns = 2;
constexpr double kAlike = 0.005;
/// A gain below this share of the flushed copy's time is none.
constexpr double kSomeGain = 0.05;

/// What each block stores: begin and end in cycles of its SM, and the SM. A fourth word aligns the elements.
struct BlockTime {
    std::uint32_t begin = 0, end = 0, sm = 0, unused = 0;
};

/// A kernel whose stores wait for its loads, so that a block ends after all its elements arrived.
ptx::KernelBuilder copy_kernel(ptx::Target target) {
    ptx::KernelBuilder k("copy_elements", target);
    const Reg from = k.param(Type::u64, "from"), to = k.param(Type::u64, "to"), times = k.param(Type::u64, "times");
    const Reg index = k.thread_index(), element = k.reg(Type::b64), source = k.element(from, index, Bytes{kElement});
    const Reg begin = k.clock_after(source);
    k("ld.global.b64", element, Mem{source});
    k("st.global.b64", Mem{k.element(to, index, Bytes{kElement})}, element);
    k("bar.sync", 0);
    const Reg end = k.clock32(), first = k.reg(Type::pred);
    k("setp.eq.u32", first, k.special(ptx::SpecialRegister::tid_x), 0);
    const Mem time{k.element(times, k.special(ptx::SpecialRegister::ctaid_x), Bytes{sizeof(BlockTime)})};
    k.when(first)("st.global.v4.u32", time, ptx::Vec{begin, end, k.special(ptx::SpecialRegister::smid), end});
    return k;
}

/// Cycles from the first begin to the last end of the blocks of an SM, as a mean over SMs, because clocks of different
/// SMs are not comparable.
double mean_span(std::span<const BlockTime> blocks) {
    struct Span {
        std::uint32_t origin = 0;
        std::int32_t first = 0, last = 0;
    };
    std::map<std::uint32_t, Span> sms;
    for (const auto& block : blocks) {
        auto& span = sms.try_emplace(block.sm, Span{block.begin, 0, 0}).first->second;
        // Differences from one reading stay right when the 32-bit clock wraps around.
        span.first = std::min(span.first, static_cast<std::int32_t>(block.begin - span.origin));
        span.last = std::max(span.last, static_cast<std::int32_t>(block.end - span.origin));
    }
    double sum = 0;
    for (const auto& [sm, span] : sms) sum += span.last - span.first;
    return sum / static_cast<double>(sms.size());
}

/// Copies of growing size, each timed right after the same copy and after a flush of the caches.
class Copies {
public:
    Copies(Context& context, std::int64_t cache)
        : context_(context),
          most_(kTimesCache * cache),
          arrays_(context.device, Bytes{most_}),
          times_(context.device, Bytes{most_ / kUnit * static_cast<std::int64_t>(sizeof(BlockTime))}),
          dummy_(context.device, flush_bytes(flush_shape(context.device), cache)),
          copy_(context.device, copy_kernel(target_of(context.device))),
          flush_(context.device, StreamKind::read, flush_shape(context.device), dummy_.address(), dummy_.size()) {}

    /// Bytes of source and destination together.
    [[nodiscard]] std::int64_t most() const { return most_; }
    void measure(std::int64_t bytes) {
        bytes = std::clamp(bytes / kUnit * kUnit, kUnit, most_);
        if (points_.contains(bytes)) return;
        double kept = 1e18, flushed = 1e18;
        for (int run = 0; run < (context_.quick ? kQuickRuns : kRuns); ++run) {
            flush_.run(dummy_.size());
            const double cold = copied(bytes), warm = copied(bytes);
            const bool alike = std::abs(cold - flushed) <= kAlike * flushed && std::abs(warm - kept) <= kAlike * kept;
            flushed = std::min(flushed, cold);
            kept = std::min(kept, warm);
            if (alike) break;
        }
        points_[bytes] = {kept, flushed};
    }
    struct Times {
        double kept = 0, flushed = 0;  ///< cycles
    };
    [[nodiscard]] const std::map<std::int64_t, Times>& points() const { return points_; }

private:
    static StreamShape flush_shape(const device::Device& device) { return streaming_shapes(device).front(); }
    /// Bytes that flush the cache, in whole iterations of the stream.
    static Bytes flush_bytes(const StreamShape& shape, std::int64_t cache) {
        const std::int64_t iteration = shape.iteration_bytes();
        return Bytes{(kFlush * cache + iteration - 1) / iteration * iteration};
    }

    double copied(std::int64_t bytes) {
        const auto blocks = static_cast<std::uint32_t>(bytes / kUnit);
        device::Arguments arguments;
        arguments.add(arrays_.address())
            .add(arrays_.address() + static_cast<device::Address>(bytes / 2))
            .add(times_.address());
        copy_.launch({blocks}, {kThreads}, arguments);
        return mean_span(times_.read<BlockTime>(blocks));
    }

    Context& context_;
    std::int64_t most_;
    device::Buffer arrays_;
    device::Buffer times_;
    device::Buffer dummy_;
    CompiledKernel copy_;
    Streaming flush_;
    std::map<std::int64_t, Times> points_;
};

std::int64_t largest_gain(const Copies& copies) {
    const auto gain = [](const auto& point) { return point.second.flushed - point.second.kept; };
    return std::ranges::max_element(copies.points(), {}, gain)->first;
}

results::Trace trace_of(const Copies& copies) {
    results::Trace trace{.name = "l2_copy/time", .experiment = "l2_copy"};
    trace.columns = {{"size", "bytes", {}}, {"kept", "cycles", {}}, {"flushed", "cycles", {}}, {"gain", "cycles", {}}};
    trace.plot = {
        "Time of a copy against the bytes of source and destination, with and without a flush of the caches before "
        "(Lashgar 2015, Fig. 2)",
        "size",
        {"kept", "flushed"},
        false,
        false};
    for (const auto& [bytes, times] : copies.points())
        trace.add_row(bytes, times.kept, times.flushed, times.flushed - times.kept);
    return trace;
}

Outcome measure(Context& context) {
    Outcome outcome;
    const auto cache = largest_cache(context);
    if (cache == 0) return outcome;  // there is no cache to measure
    Copies copies(context, cache);
    for (std::int64_t bytes = std::min(kSmallest, cache / kFine); bytes <= copies.most(); bytes *= 2) {
        context.progress(0.3, fmt::format("copies of {} KiB", bytes >> 10));
        copies.measure(bytes);
    }
    const auto around = largest_gain(copies);
    for (std::int64_t part = kFine; part <= 2 * kFine; ++part) {
        context.progress(static_cast<double>(part) / (2 * kFine),
                         fmt::format("copies of {} KiB", around / kFine * part >> 10));
        copies.measure(around / kFine * part);
    }
    const auto trace = trace_of(copies);
    const auto limit = deduce::gain_limit(trace.columns[0].values, trace.columns[3].values);
    const auto path = fmt::format("caches.{}.copy_capacity", last_cache(context.findings));
    const auto& best = copies.points().at(largest_gain(copies));
    const Evidence evidence{
        fmt::format(
            "l2_copy: copies of {} sizes by all SMs, right after the same copy and after {} MiB of other data; the "
            "largest size up to which the cycles that the first saves keep growing",
            copies.points().size(), kFlush * cache >> 20),
        kConfidence,
        fmt::format("copying again saves at most {:.0f} of {:.0f} cycles", best.flushed - best.kept, best.flushed)};
    if (!limit || best.flushed - best.kept < kSomeGain * best.flushed) {
        outcome.estimates.push_back(undecided(path, {}, evidence));
    } else {
        auto estimate = decided(path, static_cast<std::int64_t>(std::llround(limit->last)), evidence);
        estimate.interval = {limit->last, limit->next};
        outcome.estimates.push_back(std::move(estimate));
    }
    outcome.traces.push_back(trace);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace l2_copy

Experiment l2_copy_experiment() {
    return {.id = "l2_copy",
            .title = "time of copies with and without what the last cache holds of them, against size",
            .source = "Lashgar 2015, 3.3 and Fig. 2",
            .method = "memory-and-bandwidth",
            .explanation =
                "Copies of growing size run twice: right after the same copy, and after everything was evicted "
                "from the caches. What the first gains over the second grows with the size until the cache is "
                "full.",
            .needs = {},
            .after = {"caches"},
            .provides = {"caches.*.copy_capacity"},
            .run = l2_copy::run,
            .part_of_scan = PartOfScan::on_request};
}

}  // namespace gputomo::experiments
