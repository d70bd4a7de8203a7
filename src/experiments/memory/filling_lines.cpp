// What a store does to a line that the last cache is still fetching: updates of rows in place, against updates that go
// to other rows.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace gputomo::experiments {
namespace filling_lines {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

/// Confidence of the estimate, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// Threads of a block, one block on each SM, and lines that each thread updates. More threads make the parts of the
/// cache busier and the difference larger. With 64, loads do not reach the bandwidth of memory.
constexpr std::uint32_t kThreads = 64;
constexpr std::int64_t kLines = 16;
/// Launches of each kernel. Each has memory of its own, which no cache holds.
constexpr int kLaunches = 5;
/// Updates in place that take at least `kHeldUp` times as long as the others are held up. An H200 takes 5 times as
/// long. Where stores merge, both take equally long to a few percent, and less than `kEqual` says so. Scans of an H200
/// also read 1.25 and 1.51 times: what lies between decides nothing. All launches have to agree, the fastest of the one
/// kernel beside the median of the other.
constexpr double kHeldUp = 2, kEqual = 1.2;

/// Each thread walks through a row of its own, sector by sector. It loads the next sector, then stores to the one
/// before it, in place or at the same place of another row.
ptx::KernelBuilder kernel_of(bool in_place, std::int64_t line, std::int64_t sector, ptx::Target target) {
    ptx::KernelBuilder k(in_place ? "updates_in_place" : "updates_elsewhere", target);
    const Reg from = k.param(Type::u64, "from"), to = k.param(Type::u64, "to");
    const Reg lines = k.param(Type::u32, "lines");
    const Reg index = k.thread_index();
    const Reg source = k.element(from, index, Bytes{kLines * line});
    const Reg destination = in_place ? source : k.element(to, index, Bytes{kLines * line});
    const Reg current = k.reg(Type::b32), next = k.reg(Type::b32);
    k("ld.volatile.global.b32", current, Mem{source});
    k.loop(lines, [&] {
        for (std::int64_t at = 0; at < line; at += sector) {
            k("ld.volatile.global.b32", next, Mem{source, at + sector});
            k("st.volatile.global.b32", Mem{destination, at}, current);
            k("mov.b32", current, next);
        }
        k("add.u64", source, source, line);
        if (!in_place) k("add.u64", destination, destination, line);
    });
    return k;
}

class Updates {
public:
    Updates(Context& context, std::int64_t line, std::int64_t sector)
        : context_(context),
          line_(line),
          sector_(sector),
          blocks_(static_cast<std::uint32_t>(sms_of(context.device))),
          // The last thread of a launch reads one sector beyond its row.
          region_(std::int64_t{kThreads} * blocks_ * kLines * line + line),
          rows_(context.device, Bytes{2 * kLaunches * region_}),
          others_(context.device, Bytes{region_}) {}

    /// Nanoseconds of the launches: the fastest one counts, and the interval ends at the median.
    Measured measure(bool in_place, Outcome& outcome) {
        CompiledKernel kernel(context_.device, kernel_of(in_place, line_, sector_, target_of(context_.device)),
                              {LoopedCode{{"STG", 4}, static_cast<int>(line_ / sector_)}});
        add_code_checks(kernel, outcome);
        std::vector<double> times;
        for (int i = 0; i < kLaunches; ++i) {
            device::Arguments arguments;
            arguments.add(rows_.address() + static_cast<std::uint64_t>(used_++ * region_))
                .add(others_.address())
                .add(static_cast<std::uint32_t>(kLines));
            times.push_back(kernel.launch({blocks_}, {kThreads}, arguments).elapsed.count());
        }
        const double fastest = std::ranges::min(times);
        return {fastest, fastest, median(times)};
    }

private:
    Context& context_;
    std::int64_t line_, sector_;
    std::uint32_t blocks_;
    std::int64_t region_;  ///< bytes that one launch reads
    device::Buffer rows_, others_;
    std::int64_t used_ = 0;
};

Outcome measure(Context& context) {
    Outcome outcome;
    const auto key = last_cache(context.findings);
    const auto number = [&](std::string_view leaf) {
        return static_cast<std::int64_t>(context.findings.number(fmt::format("caches.{}.{}", key, leaf)).value_or(0));
    };
    const std::int64_t sector = number("sector"), line = std::max(number("line"), 2 * sector);
    if (sector <= 0 || line % sector != 0) return outcome;
    Updates updates(context, line, sector);
    context.progress(0, "updates elsewhere");
    const Measured elsewhere = updates.measure(false, outcome);
    context.progress(0.5, "updates in place");
    const Measured in_place = updates.measure(true, outcome);
    results::Trace trace{.name = "filling_lines/times", .experiment = "filling_lines"};
    trace.columns = {{"elsewhere", "ns", {}}, {"in_place", "ns", {}}};
    trace.add_row(elsewhere.value, in_place.value);
    outcome.traces.push_back(std::move(trace));
    const std::string path = fmt::format("caches.{}.filling_store", key), blocks = "blocks", merges = "merges";
    const results::Evidence evidence{
        "filling_lines: all SMs update rows from memory sector by sector, in place and elsewhere", kConfidence,
        fmt::format("updates in place take {:.1f} us, others {:.1f} us; the medians are {:.1f} and {:.1f} us",
                    in_place.value / 1000, elsewhere.value / 1000, in_place.high / 1000, elsewhere.high / 1000)};
    const bool held_up = in_place.low / elsewhere.high >= kHeldUp, equal = in_place.high / elsewhere.low < kEqual;
    outcome.estimates.push_back(held_up || equal ? results::decided(path, held_up ? blocks : merges, evidence)
                                                 : results::undecided(path, {blocks, merges}, evidence));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace filling_lines

Experiment filling_lines_experiment() {
    return {
        .id = "filling_lines",
        .title = "stores to lines that the last cache is still fetching",
        .source = "gputomo",
        .method = "memory-and-bandwidth",
        .explanation =
            "Each thread loads the next sector of its row from memory, and then stores to the one before it, mostly "
            "in the same line. If the last cache must finish a line before it can write to it, this takes much "
            "longer than stores to other rows.",
        .needs = {},
        .after = {"clock", "caches", "latency_map"},
        .provides = {"caches.*.filling_store"},
        .run = filling_lines::run};
}

}  // namespace gputomo::experiments
