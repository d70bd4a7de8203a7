// Whether shared memory and a cache share storage: lines that the cache holds while blocks take more and more shared
// memory.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "measure/chase/pointer_chase.hpp"
#include "measure/chase/pointer_chase_kernels.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace gputomo::experiments {
namespace shared_split {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// Share of loads that may miss if all lines are resident. One line too many makes a cyclic access sequence miss in a
/// whole set or more.
constexpr double kMisses = 0.02;
/// Share of the lines by which equal launches may differ.
constexpr double kSlack = 0.03;
/// Passes before the timed one. With random replacement, lines that fit are all resident only after several passes.
constexpr std::int64_t kWarm = 6;
/// A cache of more bytes than this does not belong to an SM.
constexpr std::int64_t kMostOfSm = std::int64_t{1} << 20;
/// Resolution in bytes of the amounts of shared memory; the splits of all known GPUs are coarser.
constexpr std::int64_t kUnit = 256;

struct Split {
    std::int64_t shared = 0;  ///< most bytes that a block can take while the cache holds `lines`
    std::int64_t lines = 0;
};

class SharedSplit {
public:
    SharedSplit(Context& context, std::string cache, std::int64_t capacity, std::int64_t line)
        : context_(context),
          cache_(std::move(cache)),
          line_(line),
          known_(capacity / line),
          array_(context.device, Bytes{2 * capacity}),
          chase_(context.device, {}),
          least_(static_cast<std::int64_t>(chase_.shape().records) * kRecordBytes),
          most_(most_of_block(context.device)) {
        write(known_ / 8);
        hit_ = latency(known_ / 8, least_);
        miss_ = latency(2 * known_, least_);
    }
    Outcome measure();

private:
    static std::int64_t most_of_block(const device::Device& device) {
        using enum device::Attribute;
        return std::max(device.attribute(max_shared_memory_per_block_optin).value_or(0),
                        device.attribute(max_shared_memory_per_block).value_or(16384));
    }
    void write(std::int64_t lines) {
        std::vector<device::Address> order;
        for (std::int64_t i = 0; i < lines; ++i)
            order.push_back(array_.address() + static_cast<device::Address>(i * line_));
        chase_.write_cycle(order);
        written_ = lines;
    }
    /// Mean latency of a pass over this many lines by a block that takes `shared` bytes.
    double latency(std::int64_t lines, std::int64_t shared) {
        if (written_ != lines) write(lines);
        const std::int64_t unit = chase_.average_granularity(), loads = (lines + unit - 1) / unit * unit;
        return chase_
            .average({.start = array_.address(),
                      .start_again = {},
                      .warm = static_cast<std::uint32_t>(kWarm * lines),
                      .loads = static_cast<std::uint32_t>(loads),
                      .sm = {},
                      .shared = Bytes{shared}})
            .value_or(miss_);
    }
    bool keeps(std::int64_t lines, std::int64_t shared) {
        return latency(lines, shared) - hit_ <= kMisses * (miss_ - hit_);
    }
    /// The most lines that stay resident; `low` lines do, `high` lines do not.
    std::int64_t lines_beside(std::int64_t shared, std::int64_t low, std::int64_t high) {
        while (high - low > 1) {
            const auto middle = (low + high) / 2;
            (keeps(middle, shared) ? low : high) = middle;
        }
        return low;
    }
    std::vector<Split> splits();
    void conclude(const std::vector<Split>& splits, Outcome& outcome) const;

    Context& context_;
    std::string cache_;
    std::int64_t line_, known_;
    device::Buffer array_;
    PointerChase chase_;
    std::int64_t least_, most_;
    std::int64_t written_ = 0;
    double hit_ = 0, miss_ = 0;
};

std::vector<Split> SharedSplit::splits() {
    std::vector<Split> found;
    std::int64_t lines = known_, shared = least_;
    for (;;) {
        const auto enough = static_cast<std::int64_t>(std::floor((1 - kSlack) * static_cast<double>(lines)));
        context_.progress(static_cast<double>(shared) / static_cast<double>(most_), fmt::format("{} lines", lines));
        std::int64_t low = shared, high = most_ + 1;
        if (keeps(enough, most_)) low = most_;
        while (low < most_ && high - low > kUnit) {
            const auto middle = std::max(low + 1, (low + high) / 2 / kUnit * kUnit);
            if (middle >= high) break;
            (keeps(enough, middle) ? low : high) = middle;
        }
        found.push_back({low, lines});
        if (low >= most_) return found;
        shared = std::min(most_, high);
        lines = lines_beside(shared, 1, enough);
        if (lines == 1) return found;  // one line misses for another reason
    }
}

void SharedSplit::conclude(const std::vector<Split>& splits, Outcome& outcome) const {
    const Evidence evidence{
        fmt::format("shared_split: lines of {} that stay resident with {} amounts of shared memory of a block", cache_,
                    splits.size()),
        kConfidence};
    const auto overhead = static_cast<std::int64_t>(context_.findings.number("shared.block_overhead").value_or(0));
    std::vector<std::int64_t> options, capacities;
    for (const auto& split : splits) {
        options.push_back(split.shared + overhead);
        capacities.push_back(split.lines * line_);
    }
    outcome.estimates.push_back(decided("shared.unified_cache", cache_, evidence));
    outcome.estimates.push_back(decided("shared.capacity_options", options, evidence));
    outcome.estimates.push_back(decided(fmt::format("caches.{}.capacity_options", cache_), capacities, evidence));
}

Outcome SharedSplit::measure() {
    Outcome outcome;
    for (const auto* kernel : chase_.kernels()) add_code_checks(*kernel, outcome);
    if (most_ <= least_ || miss_ <= hit_ || !keeps(known_ - known_ / 16, least_)) {
        outcome.warnings.push_back(
            fmt::format("shared_split: nothing was measured, because {} does not hold the {} bytes that an earlier "
                        "experiment found",
                        cache_, known_ * line_));
        return outcome;
    }
    const auto found = splits();
    results::Trace trace{.name = "shared_split/lines", .experiment = "shared_split"};
    trace.columns = {{"shared", "bytes", {}}, {"lines", "count", {}}};
    for (const auto& split : found) {
        trace.add_row(split.shared, split.lines);
    }
    trace.plot = {fmt::format("Lines of {} that stay resident, against the shared memory of a block", cache_),
                  "shared",
                  {"lines"},
                  false,
                  false};
    outcome.traces.push_back(std::move(trace));
    if (found.size() > 1) conclude(found, outcome);
    return outcome;
}

Outcome run(Context& context) {
    const auto names = names_of(context.findings, "paths.global.caches");
    const std::string cache = names.empty() ? "" : names.front();
    if (cache.empty()) return {};
    const auto capacity = most_capacity(context.findings, cache);
    const auto line = least_of(context.findings, fmt::format("caches.{}.line", cache));
    if (capacity <= 0 || capacity > kMostOfSm || !line) return {};
    return or_left_out(
        [&] { return SharedSplit(context, cache, capacity, static_cast<std::int64_t>(*line)).measure(); });
}

}  // namespace
}  // namespace shared_split

Experiment shared_split_experiment() {
    return {.id = "shared_split",
            .title = "storage that shared memory and the first cache have in common",
            .source = "Mei 2014, 2.1 and Table 1; Volkov 2016, 2.5",
            .method = "shared-memory",
            .explanation =
                "A block that takes more and more shared memory reads as many lines as the L1 held before. Where "
                "lines begin to miss, the launch has reserved a larger part of the common storage for shared "
                "memory. A bisection counts the lines that are left.",
            .needs = {"caches"},
            .after = {"shared_allocation"},
            .provides = {"shared.unified_cache", "shared.capacity_options", "caches.*.capacity_options"},
            .run = shared_split::run};
}

}  // namespace gputomo::experiments
