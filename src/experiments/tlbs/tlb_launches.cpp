// Which TLBs still have the entries of earlier launches when a launch begins.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/chase/translation_chase.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gputomo::experiments {
namespace tlb_launches {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// Pages, each behind an entry of its own in the first TLB: fewer than any first TLB has.
constexpr std::uint64_t kPages = 8;
/// Launches that are timed, behind two that bring data to the last cache, and entries to all TLBs.
constexpr int kLaunches = 9, kDropped = 2;
/// Bytes between entries where no TLB's span is known, and the most that are allocated between two.
constexpr std::uint64_t kSpan = std::uint64_t{2} << 20, kMostSpan = std::uint64_t{64} << 20;
/// Bytes between the two words of a page: in different lines, and in the same part of the memory.
constexpr std::int64_t kApart = 512;
/// A level is distinguished from the next one where their translations differ by at least these cycles.
constexpr double kLeastPenalty = 6;

/// One thread loads two words of each page. The first one needs a translation.
ptx::KernelBuilder loads_kernel(ptx::Target target) {
    ptx::KernelBuilder k("pages_of_a_launch", target);
    const Reg stamps = k.param(Type::u64, "stamps"), data = k.param(Type::u64, "data");
    const Reg apart = k.param(Type::u64, "apart");
    const Reg at = k.reg(Type::u64), to = k.reg(Type::u64), word = k.reg(Type::u32);
    k("mov.u64", at, data);
    k("mov.u64", to, stamps);
    k.loop(static_cast<int>(kPages), [&] {
        const Reg start = k.clock32();
        k("ld.volatile.global.u32", word, Mem{at});
        const Reg between = k.clock_after(word);
        k("ld.volatile.global.u32", word, Mem{at, kApart});
        const Reg end = k.clock_after(word);
        k("st.global.u32", Mem{to}, start);
        k("st.global.u32", Mem{to, 4}, between);
        k("st.global.u32", Mem{to, 8}, end);
        k("add.u64", to, to, 12);
        k("add.u64", at, at, apart);
    });
    return k;
}

Outcome measure(Context& context) {
    Outcome outcome;
    const auto names = names_of(context.findings, "paths.global.tlbs");
    std::vector<double> until{0};  // cycles of a translation that the level of this number has
    std::uint64_t span = kSpan;
    for (const auto& name : names) {
        const auto penalty = context.findings.number(fmt::format("tlbs.{}.miss_penalty", name));
        if (!penalty || *penalty < kLeastPenalty) break;
        until.push_back(until.back() + *penalty);
        if (const auto known = context.findings.number(fmt::format("tlbs.{}.span", name)))
            span = std::max(span, static_cast<std::uint64_t>(*known));
    }
    if (until.size() < 2) {
        outcome.warnings.emplace_back("tlb_launches: left out, because no TLB and its miss penalty are known");
        return outcome;
    }
    span = std::min(span, kMostSpan);
    auto& device = context.device;
    CompiledKernel kernel(device, loads_kernel(target_of(device)));
    const device::Buffer data(device, Bytes{static_cast<std::int64_t>(kPages * span)});
    const device::Buffer stamps(device, Bytes{static_cast<std::int64_t>(kPages * 3 * sizeof(std::uint32_t))});
    device::Arguments arguments;
    arguments.add(stamps.address()).add(data.address()).add(span);
    results::Trace trace{.name = "tlb_launches/translations", .experiment = "tlb_launches"};
    trace.columns = {{"page", "count", {}}, {"first", "cycles", {}}, {"second", "cycles", {}}};
    std::vector<double> translations;
    for (int i = 0; i < kDropped + kLaunches; ++i) {
        context.progress(static_cast<double>(i) / (kDropped + kLaunches), "first loads of a launch");
        kernel.launch({1}, {1}, arguments);
        if (i < kDropped) continue;
        const auto times = stamps.read<std::uint32_t>(kPages * 3);
        for (std::size_t page = 0; page < kPages; ++page) {
            const double first = times[3 * page + 1] - times[3 * page],
                         second = times[3 * page + 2] - times[3 * page + 1];
            trace.add_row(static_cast<double>(page), first, second);
            translations.push_back(first - second);
        }
    }
    trace.plot = {"Cycles of the first and the second load of a page", "page", {"first", "second"}, false, false};
    outcome.traces.push_back(std::move(trace));
    const double found = median(translations);
    const auto nearest = std::ranges::min_element(until, {}, [&](double cycles) { return std::abs(cycles - found); });
    const auto hit = static_cast<std::size_t>(nearest - until.begin());
    const Evidence evidence{"tlb_launches: first load of a page in a launch, less the next one", kConfidence,
                            fmt::format("{:.0f} cycles", found)};
    for (std::size_t level = 0; level + 1 < until.size() && level <= hit; ++level)
        outcome.estimates.push_back(
            decided(fmt::format("tlbs.{}.outlasts_launches", names[level]), level == hit, evidence));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace tlb_launches

Experiment tlb_launches_experiment() {
    return {.id = "tlb_launches",
            .title = "which TLBs keep their entries from one launch to the next",
            .source = "Wong 2010, IV-I",
            .method = "tlbs",
            .explanation =
                "A launch loads two words of each of a few pages, as the launches before it did. The first word of a "
                "page waits for its translation, the second one does not. The difference says which TLB still had the "
                "entry.",
            .needs = {"tlb"},
            .provides = {"tlbs.*.outlasts_launches"},
            .run = tlb_launches::run};
}

}  // namespace gputomo::experiments
