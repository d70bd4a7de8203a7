// Whether the memory pauses now and then, for how long and how often: time stamps of loads of a few independent warps.
#include "experiments/experiments.hpp"

#include "deduce/memory/pauses.hpp"
#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/residency/occupancy_control.hpp"
#include "results/estimates.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace gputomo::experiments {
namespace memory_pauses {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
constexpr std::uint32_t kWarp = kWarpSize, kWarps = 8;
/// Loads of each warp in the first and in the second launch. With the second number a pause every 100 us shows fifty
/// times, if loads take 0.4 us.
constexpr std::array<std::uint32_t, 2> kLoads{2048, 12288};
/// The second launch is left out if the interval of a pause's length is at most this share of it.
constexpr double kEnough = 0.01;
/// Loads of each warp that do not count, because translations and clocks have not settled.
constexpr std::size_t kSettling = 16;
/// The array is this many times the largest cache. It is no larger than needed, because loads that miss a TLB come late
/// as well.
constexpr std::int64_t kTimesCache = 8, kLineBytes = 128;
constexpr std::int64_t kSmallestArray = std::int64_t{1} << 20, kLargestArray = std::int64_t{1} << 30,
                       kShareOfMemory = 4;
/// Multiplier and increment of the generator of line numbers (Knuth 1997, 3.3.4, table 1, line 16).
constexpr std::uint32_t kMultiplier = 1664525, kIncrement = 1013904223;
/// The low bits of the generator's numbers, which are dropped, because they repeat soon.
constexpr int kLowBits = 8;

struct Stamps {
    std::uint32_t begin = 0, end = 0;
};

/// Each warp of one block loads random lines, each load waiting for the one before, and stores the clock before and
/// after. Each warp executes another number of instructions between loads, so that warps do not stay in step after a
/// pause. The array holds zeros.
ptx::KernelBuilder pauses_kernel(ptx::Target target) {
    ptx::KernelBuilder k("memory_pauses", target);
    const Reg array = k.param(Type::u64, "array"), mask = k.param(Type::u32, "mask"),
              iterations = k.param(Type::u32, "iterations"), stamps = k.param(Type::u64, "stamps");
    const Reg warp = k.reg(Type::u32), first_lane = k.reg(Type::pred), random = k.reg(Type::u32),
              line = k.reg(Type::u32), value = k.reg(Type::u32), first = k.reg(Type::u32), to = k.reg(Type::u64),
              spin = k.reg(Type::u32);
    k("shr.u32", warp, k.special(SpecialRegister::tid_x), 5);
    k("setp.eq.u32", first_lane, k.special(SpecialRegister::laneid), 0);
    k("mul.lo.u32", first, warp, iterations);
    k("mov.u64", to, k.element(stamps, first, Bytes{sizeof(Stamps)}));
    k("add.u32", spin, warp, 1);
    k("mul.lo.u32", random, spin, kIncrement);
    k.loop(iterations, [&] {
        k("shr.u32", line, random, kLowBits);
        k("and.b32", line, line, mask);
        const Reg at = k.element(array, line, Bytes{kLineBytes});
        const Reg begin = k.clock_after(at);
        k("ld.global.u32", value, Mem{at});
        const Reg end = k.clock_after(value);
        k.when(first_lane)("st.global.u32", Mem{to, offsetof(Stamps, begin)}, begin);
        k.when(first_lane)("st.global.u32", Mem{to, offsetof(Stamps, end)}, end);
        k("add.u64", to, to, static_cast<int>(sizeof(Stamps)));
        k("mul.lo.u32", random, random, kMultiplier);
        k("add.u32", random, random, kIncrement);
        k("add.u32", random, random, value);
        k.loop(spin, [&] { k("add.u32", random, random, value); });
    });
    return k;
}

class PauseSearch {
public:
    explicit PauseSearch(Context& context)
        : context_(context),
          bytes_(array_bytes(context)),
          array_(context.device, bytes_),
          stamps_(context.device,
                  Bytes{std::int64_t{kWarps} * kLoads.back() * static_cast<std::int64_t>(sizeof(Stamps))}),
          kernel_(context.device, pauses_kernel(target_of(context.device)),
                  {TimedCode{.operation = {"LD|LDG", 4}, .counts = {1}}}) {
        context.device.fill_u32(array_.address(), 0, static_cast<std::size_t>(bytes_.count()) / 4);
    }

    Outcome run() {
        Outcome outcome;
        add_code_checks(kernel_, outcome);
        std::vector<deduce::TimedLoad> loads;
        deduce::MemoryPauses found;
        for (std::size_t i = 0; i < kLoads.size(); ++i) {
            context_.progress(static_cast<double>(i) / kLoads.size(),
                              fmt::format("{} loads of each of {} warps", kLoads[i], kWarps));
            loads = sample(kLoads[i]);
            found = deduce::find_pauses(loads);
            const bool known = found.verdict == deduce::MemoryPauses::Verdict::regular &&
                               found.duration_high - found.duration_low < kEnough * found.duration;
            if (known || context_.quick) break;
        }
        add_traces(loads, found, outcome);
        add_estimates(found, outcome);
        return outcome;
    }

private:
    static Bytes array_bytes(const Context& context) {
        const auto memory = context.device.attribute(device::Attribute::total_memory_bytes).value_or(kLargestArray);
        const auto wanted = std::clamp(kTimesCache * largest_cache(context), kSmallestArray, kLargestArray);
        return Bytes{static_cast<std::int64_t>(
            std::bit_floor(static_cast<std::uint64_t>(std::min(wanted, memory / kShareOfMemory))))};
    }

    std::vector<deduce::TimedLoad> sample(std::uint32_t count) {
        device::Arguments arguments;
        arguments.add(array_.address())
            .add(static_cast<std::uint32_t>(bytes_.count() / kLineBytes - 1))
            .add(count)
            .add(stamps_.address());
        kernel_.launch({1}, {kWarps * kWarp}, arguments);
        const auto stamps = stamps_.read<Stamps>(std::size_t{kWarps} * count);
        std::vector<deduce::TimedLoad> loads;
        for (std::uint32_t warp = 0; warp < kWarps; ++warp)
            for (std::size_t iteration = kSettling; iteration < count; ++iteration) {
                const auto& stamp = stamps[warp * count + iteration];
                // Differences of the 32-bit clock are right although it wraps around.
                const auto since = [&](std::uint32_t time) {
                    return static_cast<double>(static_cast<std::int32_t>(time - stamps.front().begin));
                };
                loads.push_back({since(stamp.begin), since(stamp.end), warp});
            }
        return loads;
    }

    void add_traces(const std::vector<deduce::TimedLoad>& loads, const deduce::MemoryPauses& found,
                    Outcome& outcome) const {
        results::Trace trace{.name = "memory_pauses/late", .experiment = "memory_pauses"};
        trace.columns = {{"time", "ns", {}}, {"late", "cycles", {}}, {"warp", "number", {}}};
        for (const auto& load : loads) {
            const double late = load.end - load.begin - found.median_latency;
            if (late <= found.late_threshold) continue;
            trace.add_row(nanoseconds(load.end), late, load.chain);
        }
        trace.plot = {"Loads that came late, by the time at which they came", "time", {"late"}, false, false};
        outcome.traces.push_back(std::move(trace));
        results::Trace stalls{.name = "memory_pauses/stalls", .experiment = "memory_pauses"};
        stalls.columns = {{"time", "ns", {}}, {"longest", "cycles", {}}, {"warps", "count", {}}};
        for (const auto& stall : found.stalls) {
            stalls.add_row(nanoseconds(stall.end), stall.longest_delay, stall.chains);
        }
        stalls.plot = {"Times at which loads of several warps came late together", "time", {"longest"}, false, false};
        outcome.traces.push_back(std::move(stalls));
    }

    void add_estimates(const deduce::MemoryPauses& found, Outcome& outcome) const {
        using enum deduce::MemoryPauses::Verdict;
        const Evidence evidence{"memory_pauses: times at which loads of several warps come late together", kConfidence,
                                fmt::format("{}; loads of {:.0f} cycles over {:.0f} us", found.why,
                                            found.median_latency, nanoseconds(found.span) / 1000)};
        const std::array leaves{"memory.pause_interval", "memory.pause_time"};
        if (found.verdict == regular) {
            outcome.estimates.push_back(decided_real(
                leaves[0],
                {nanoseconds(found.interval), nanoseconds(found.interval_low), nanoseconds(found.interval_high)},
                evidence));
            outcome.estimates.push_back(decided_real(
                leaves[1],
                {nanoseconds(found.duration), nanoseconds(found.duration_low), nanoseconds(found.duration_high)},
                evidence));
            return;
        }
        for (const auto* leaf : leaves)
            outcome.estimates.push_back(found.verdict == none ? absent(leaf, evidence) : undecided(leaf, {}, evidence));
    }

    [[nodiscard]] double nanoseconds(double cycles) const {
        return cycles * 1000 / sm_mhz_of(context_.findings, context_.device);
    }

    Context& context_;
    Bytes bytes_;
    device::Buffer array_, stamps_;
    CompiledKernel kernel_;
};

Outcome run(Context& context) {
    return watched(context, [](Context& c) { return or_left_out([&] { return PauseSearch(c).run(); }); });
}

}  // namespace
}  // namespace memory_pauses

Experiment memory_pauses_experiment() {
    return {.id = "memory_pauses",
            .title = "times in which the whole memory stands still: how often, how long",
            .source = "Volkov 2016, 6.6",
            .method = "memory-and-bandwidth",
            .explanation =
                "Eight warps of one block load random lines, each load waiting for the one before, and record the "
                "clock before and after. A late load of one warp alone may have waited in a queue. Where loads of "
                "several warps are late at the same time, the memory paused. Loads that arrive during a pause wait "
                "for its end, so that delays range up to the length of a pause, and the times between pauses show "
                "their interval.",
            .needs = {},
            .after = {"clock", "caches"},
            .provides = {"memory.pause_interval", "memory.pause_time"},
            .run = memory_pauses::run};
}

}  // namespace gputomo::experiments
