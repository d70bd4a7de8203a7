// How many loads from shared memory can wait for its banks while the warps that issued them go on.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace gputomo::experiments {
namespace shared_queue {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// Loads of a warp in the shorter section; the longer one has twice as many. Two warps of an H200 have 20 each that
/// wait. With more than 63 in flight, a warp waits for another reason: its dependence barriers count no further. Older
/// GPUs have 63 registers for all that is loaded.
constexpr int kLoads = 26;
/// Where more than this share of the loads still wait, the queues have room for all of them, and their size is open.
constexpr double kNoneWaits = 0.9;
/// Passes over the code, of which the last one counts. The others warm the instruction caches.
constexpr int kPasses = 3;
constexpr int kLaunches = 3;

/// Each warp reads the clock, issues loads that meet in one bank, and reads the clock again before it uses what they
/// load. Once for kLoads loads, and once for twice as many.
ptx::KernelBuilder kernel_of(ptx::Target target) {
    ptx::KernelBuilder k("shared_queue", target);
    const Reg times = k.param(Type::u64, "times");
    const Reg stride = k.param(Type::u32, "stride");
    const Reg memory = k.dynamic_shared();
    const Reg address = k.reg(Type::u32), sum = k.reg(Type::u32), pass = k.reg(Type::u32);
    const Reg lane = k.reg(Type::u32);
    k("and.b32", lane, k.special(ptx::SpecialRegister::tid_x), kWarpSize - 1);
    k("mad.lo.u32", address, lane, stride, memory);
    k("mov.u32", sum, 0);
    const std::vector<Reg> loaded = k.regs(Type::u32, 2 * kLoads);
    const std::vector<Reg> spent = k.regs(Type::u32, 2);
    k("mov.u32", pass, kPasses);
    k.loop(pass, [&] {
        for (int section = 0; section < 2; ++section) {
            const auto loads = static_cast<std::size_t>(kLoads * (section + 1));
            k("bar.sync", 0);
            const Reg start = k.clock32();
            for (std::size_t i = 0; i < loads; ++i) k("ld.volatile.shared.u32", loaded[i], Mem{address});
            const Reg end = k.clock32();
            k("sub.u32", spent[static_cast<std::size_t>(section)], end, start);
            // A factor that is read last keeps the compiler from waiting for data between the loads.
            for (std::size_t i = 0; i < loads; ++i) k("mad.lo.u32", sum, loaded[i], end, sum);
        }
    });
    const Reg mine = k.element(times, k.special(ptx::SpecialRegister::tid_x), Bytes{12});
    k("st.global.u32", Mem{mine}, spent[0]);
    k("st.global.u32", Mem{mine, 4}, spent[1]);
    k("st.global.u32", Mem{mine, 8}, sum);
    return k;
}

/// What warps of one block took until they had issued all loads: cycles of the slowest.
struct Issued {
    int warps = 0;
    double shorter = 0, longer = 0;

    /// Cycles for which a load occupies the banks.
    [[nodiscard]] double served() const { return (longer - shorter) / (kLoads * warps); }
    /// Loads of the shorter section that wait for the banks when the last one issues, where each takes `cycles`. The
    /// one that is served is none of them. (In the longer section, loads of one warp come to follow each other, which
    /// takes an H200 longer.)
    [[nodiscard]] double waiting(double cycles) const { return std::max(0.0, kLoads * warps - 1 - shorter / cycles); }
};

class Probe {
public:
    Probe(Context& context, std::int64_t stride, Outcome& outcome)
        : stride_(stride),
          kernel_(context.device, kernel_of(target_of(context.device)),
                  {TimedCode{.operation = {"LDS", 4}, .counts = {kLoads, 2 * kLoads}, .together = true}}),
          times_(context.device, Bytes{kMostThreads * kWords * 4}) {
        add_code_checks(kernel_, outcome);
    }

    /// The fastest of several launches.
    Issued issue(int warps) {
        Issued fastest{.warps = warps};
        const auto threads = static_cast<std::uint32_t>(warps * kWarpSize);
        for (int i = 0; i < kLaunches; ++i) {
            device::Arguments arguments;
            arguments.add(times_.address()).add(static_cast<std::uint32_t>(stride_));
            (void)kernel_.launch({1}, {threads}, arguments, Bytes{kWarpSize * stride_});
            const auto times = times_.read<std::uint32_t>(threads * std::size_t{kWords});
            double shorter = 0, longer = 0;
            for (std::size_t at = 0; at < times.size(); at += kWords) {
                shorter = std::max<double>(shorter, times[at]);
                longer = std::max<double>(longer, times[at + 1]);
            }
            if (i > 0 && longer >= fastest.longer) continue;
            fastest.shorter = shorter;
            fastest.longer = longer;
        }
        return fastest;
    }

private:
    static constexpr int kWords = 3;  ///< that a thread stores
    static constexpr std::int64_t kMostThreads = 1024;
    std::int64_t stride_;
    CompiledKernel kernel_;
    device::Buffer times_;
};

Outcome measure(Context& context) {
    Outcome outcome;
    const auto banks = context.findings.number("shared.banks"), width = context.findings.number("shared.bank_width");
    const auto schedulers = static_cast<int>(context.findings.number("issue.schedulers_per_sm").value_or(0));
    if (!banks || !width || schedulers < 1) return outcome;
    Probe probe(context, static_cast<std::int64_t>(*banks * *width), outcome);
    results::Trace trace{.name = "shared_queue/issue", .experiment = "shared_queue"};
    trace.columns = {
        {"warps", "count", {}}, {"shorter", "cycles", {}}, {"longer", "cycles", {}}, {"waiting", "count", {}}};
    std::vector<Issued> found;
    for (int warps = std::max(1, schedulers / 2); warps <= schedulers; ++warps) {
        context.progress(static_cast<double>(warps) / (schedulers + 1.0), fmt::format("{} warps", warps));
        found.push_back(probe.issue(warps));
    }
    const double cycles = std::ranges::min(found, {}, &Issued::served).served();
    if (cycles <= 0) return outcome;
    for (const Issued& of : found) trace.add_row(of.warps, of.shorter, of.longer, of.waiting(cycles));
    outcome.traces.push_back(std::move(trace));
    const Issued &few = found.front(), &all = found.back();
    const double of_few = few.waiting(cycles), of_all = all.waiting(cycles);
    if (of_few > kNoneWaits * kLoads * few.warps) {
        outcome.warnings.push_back(fmt::format(
            "no warp had to wait with {} loads from shared memory: its queues hold more than were tried", kLoads));
        return outcome;
    }
    // Each further warp brings the queue of its scheduler. What is left is the queue of the SM.
    const double each = found.size() > 1 ? (of_all - of_few) / (all.warps - few.warps) : of_all / all.warps;
    const auto queue = static_cast<std::int64_t>(std::llround(std::max(0.0, each)));
    const auto rest = static_cast<double>(queue * all.warps);
    const auto loads = queue == 0 ? 0 : static_cast<std::int64_t>(std::llround(std::max(0.0, of_all - rest)));
    const results::Evidence evidence{
        "shared_queue: loads of warps of different schedulers that have issued and wait for one bank", kConfidence,
        fmt::format("{:.1f} wait where {} warps load, {:.1f} where {} do", of_few, few.warps, of_all, all.warps)};
    outcome.estimates.push_back(results::decided("shared.queue", queue, evidence));
    outcome.estimates.push_back(results::decided("shared.load_queue", loads, evidence));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace shared_queue

Experiment shared_queue_experiment() {
    return {.id = "shared_queue",
            .title = "loads from shared memory that wait while their warps go on",
            .source = "gputomo",
            .method = "shared-memory",
            .explanation =
                "Warps of different schedulers issue loads that all meet in one bank, and read the clock before they "
                "use what is loaded. As long as queues have room, the warps issue faster than the bank serves them.",
            .needs = {},
            .after = {"shared_latency", "issue"},
            .provides = {"shared.queue", "shared.load_queue"},
            .run = shared_queue::run};
}

}  // namespace gputomo::experiments
