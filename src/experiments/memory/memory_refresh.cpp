// How often a part of the memory is refreshed, and for how long: pairs of loads of neighbouring lines.
#include "experiments/experiments.hpp"

#include "deduce/memory/refresh.hpp"
#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "results/estimates.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace gputomo::experiments {
namespace memory_refresh {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// Blocks of neighbouring lines, which GPUs keep together in a part of the memory, and lines of no GPU so far.
constexpr std::uint32_t kBlockBytes = 256, kOtherLine = 128;
/// Blocks that are visited once and then, in another order, again. The times between both visits are those of 2 to 28
/// loads, so that they are spread over several intervals.
constexpr std::uint32_t kGroup = 16, kOrder = 5, kShift = 3;
/// Blocks in all, of as many as lie in 64 MiB; an odd factor spreads them. More blocks make the values more exact.
constexpr std::uint32_t kBlocks = 4096, kFewBlocks = 2048, kPlaces = 1 << 18, kSpread = 40503;

struct Stamp {
    std::uint32_t begin = 0, end = 0;
};

/// One thread loads. `count` loads: for each group of blocks the first line of each, then the second one of each.
ptx::KernelBuilder pairs_kernel(ptx::Target target) {
    ptx::KernelBuilder k("pairs_of_loads", target);
    const Reg stamps = k.param(Type::u64, "stamps"), data = k.param(Type::u64, "data");
    const Reg count = k.param(Type::u32, "count");
    const Reg to = k.reg(Type::u64), word = k.reg(Type::u32);
    const Reg second = k.reg(Type::u32), block = k.reg(Type::u32), other = k.reg(Type::u32), group = k.reg(Type::u32);
    k("mov.u64", to, stamps);
    k.loop(count, [&](Reg i) {
        k("shr.u32", second, i, 4);
        k("and.b32", second, second, 1);
        k("shr.u32", group, i, 5);
        k("and.b32", block, i, kGroup - 1);
        k("mad.lo.u32", other, block, kOrder, kShift);
        k("and.b32", other, other, kGroup - 1);
        k("sub.u32", other, other, block);
        k("mad.lo.u32", block, other, second, block);
        k("mad.lo.u32", block, group, kGroup, block);
        k("mul.lo.u32", block, block, kSpread);
        k("and.b32", block, block, kPlaces - 1);
        k("mul.lo.u32", block, block, kBlockBytes);
        k("mad.lo.u32", block, second, kOtherLine, block);
        const Reg at = k.element(data, block, Bytes{1});
        const Reg begin = k.clock32();
        k("ld.volatile.global.u32", word, Mem{at});
        const Reg end = k.clock_after(word);
        k("st.global.u32", Mem{to}, begin);
        k("st.global.u32", Mem{to, 4}, end);
        k("add.u64", to, to, sizeof(Stamp));
    });
    return k;
}

std::vector<deduce::LoadPair> pairs_of(const std::vector<Stamp>& stamps) {
    std::vector<deduce::LoadPair> pairs;
    const auto load = [&](std::size_t i) {
        const auto since = [&](std::uint32_t time) { return static_cast<double>(time - stamps.front().begin); };
        return deduce::LoadPair::Load{since(stamps[i].begin), since(stamps[i].end)};
    };
    for (std::size_t group = 0; group < stamps.size(); group += std::size_t{2} * kGroup)
        for (std::size_t j = 0; j < kGroup; ++j)
            pairs.push_back({load(group + (j * kOrder + kShift) % kGroup), load(group + kGroup + j)});
    return pairs;
}

Outcome measure(Context& context) {
    Outcome outcome;
    auto& device = context.device;
    CompiledKernel kernel(device, pairs_kernel(target_of(device)));
    const std::uint32_t loads = 2 * (context.budget == Budget::full ? kBlocks : kFewBlocks);
    const device::Buffer data(device, Bytes{std::int64_t{kPlaces} * kBlockBytes});
    const device::Buffer stamps(device, Bytes{static_cast<std::int64_t>(loads * sizeof(Stamp))});
    device::Arguments arguments;
    arguments.add(stamps.address()).add(data.address()).add(loads);
    context.progress(0.2, "pairs of loads");
    kernel.launch({1}, {1}, arguments);
    const auto pairs = pairs_of(stamps.read<Stamp>(loads));
    const auto found = deduce::find_refresh(pairs);
    results::Trace trace{.name = "memory_refresh/pairs", .experiment = "memory_refresh"};
    trace.columns = {{"apart", "cycles", {}}, {"first", "cycles", {}}, {"second", "cycles", {}}};
    for (const auto& pair : pairs)
        trace.add_row(pair.second.end - pair.first.end, pair.first.latency(), pair.second.latency());
    trace.plot = {"Latency of a pair's second load", "apart", {"second"}, false, false};
    outcome.traces.push_back(std::move(trace));
    const Evidence evidence{"memory_refresh: ends of pairs of loads that both waited, and how many loads wait",
                            kConfidence, found.why};
    constexpr std::array kLeaves{"memory.refresh_interval", "memory.refresh_time"};
    if (found.verdict == deduce::MemoryRefresh::Verdict::found) {
        const double ns = 1000 / sm_mhz_of(context.findings, device);
        outcome.estimates.push_back(decided_real(
            kLeaves[0], {found.interval * ns, found.interval_low * ns, found.interval_high * ns}, evidence));
        outcome.estimates.push_back(
            decided_real(kLeaves[1], {found.time * ns, found.time_low * ns, found.time_high * ns}, evidence));
        return outcome;
    }
    for (const auto* leaf : kLeaves)
        outcome.estimates.push_back(found.verdict == deduce::MemoryRefresh::Verdict::none
                                        ? absent(leaf, evidence)
                                        : undecided(leaf, {}, evidence));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace memory_refresh

Experiment memory_refresh_experiment() {
    return {.id = "memory_refresh",
            .title = "refreshes of a part of the memory: how often, how long",
            .source = "Volkov 2016, 6.6",
            .method = "memory-and-bandwidth",
            .explanation =
                "One thread loads a line of a block of memory, and some loads later the line beside it. Where both "
                "waited, each had to wait for the end of a refresh of the same part, so that their ends are a multiple "
                "of the interval apart. How many loads wait says how long a refresh takes.",
            .needs = {},
            .after = {"clock"},
            .provides = {"memory.refresh_interval", "memory.refresh_time"},
            .run = memory_refresh::run};
}

}  // namespace gputomo::experiments
