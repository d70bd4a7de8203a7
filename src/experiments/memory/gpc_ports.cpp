// How fast the SMs of one GPC together read the cache that all SMs share.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/asynchronous/asynchronous_module.hpp"
#include "measure/bandwidth/streaming.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace gputomo::experiments {
namespace gpc_ports {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;
using ptx::Vec;

/// Confidence of the estimate, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// The widest access of a thread in bytes, accesses that it has in flight, and threads of a block. The 32 KiB of an SM
/// are more than latency times bandwidth on all GPUs so far.
constexpr std::int64_t kAccess = 16;
constexpr int kUnroll = 4;
constexpr std::uint32_t kThreads = 512;
constexpr std::int64_t kIterationBytes = kAccess * kUnroll * kThreads;
/// What each SM reads again and again: those of a GPC together fit in the smallest cache of all GPUs with clusters.
constexpr std::int64_t kWindow = 4 * kIterationBytes;
/// Iterations of the shorter of two launches whose difference counts, launches of each, and blocks of the clusters that
/// show which SMs belong together.
constexpr std::uint32_t kIterations = 256, kQuickIterations = 16;
constexpr int kLaunches = 3, kQuickLaunches = 1;
constexpr std::array kClusters{16U, 8U};
constexpr std::uint32_t kSpin = 20'000;
constexpr Bytes kWholeSm{180 * 1024};
/// All SMs of a GPC together reach less than this share of what one of them reaches alone, if they share a port.
constexpr double kLimited = 0.8;

/// Each thread of an SM that has a number reads 16 bytes at a time from the window of that number.
ptx::KernelBuilder kernel_of(ptx::Target target) {
    ptx::KernelBuilder k("gpc_port", target);
    const Reg data = k.param(Type::u64, "data"), numbers = k.param(Type::u64, "numbers");
    const Reg iterations = k.param(Type::u32, "iterations");
    const Reg number = k.reg(Type::u32), idle = k.reg(Type::pred), offset = k.reg(Type::u32), sum = k.reg(Type::b32);
    const ptx::Label out = k.label();
    k("ld.global.u32", number, Mem{k.element(numbers, k.special(SpecialRegister::smid), Bytes{4})});
    k("setp.eq.u32", idle, number, 0);
    k.when(idle)("bra", out);
    k("sub.u32", number, number, 1);
    const Reg window = k.element(data, number, Bytes{kWindow});
    k("mul.lo.u32", offset, k.special(SpecialRegister::tid_x), kAccess);
    k("mov.b32", sum, 0);
    k.loop(iterations, [&] {
        const Reg address = k.element(window, offset, Bytes{1});
        std::array<std::array<Reg, 4>, kUnroll> words;
        for (int i = 0; i < kUnroll; ++i) {
            for (Reg& word : words[static_cast<std::size_t>(i)]) word = k.reg(Type::b32);
            const auto& [a, b, c, d] = words[static_cast<std::size_t>(i)];
            k("ld.global.cg.v4.b32", Vec{a, b, c, d}, Mem{address, std::int64_t{i} * kAccess * kThreads});
        }
        for (const auto& loaded : words)
            for (const Reg word : loaded) k("xor.b32", sum, sum, word);
        k("add.u32", offset, offset, kIterationBytes);
        k("and.b32", offset, offset, kWindow - 1);
    });
    store_if_rare(k, sum, numbers);
    k.place(out);
    return k;
}

/// SMs on which the blocks of one cluster ran, one on each: of the largest clusters that the GPU starts.
std::vector<std::uint32_t> sms_of_a_gpc(Context& context) {
    AsynchronousModule kernels(context.device);
    const std::uint32_t sms = sms_of(context.device);
    for (const std::uint32_t cluster : kClusters) {
        try {
            const std::uint32_t blocks = std::max(1U, sms / cluster / 2) * cluster;
            const auto words = kernels.run("places", {blocks, 32, cluster, kWholeSm}, std::size_t{4} * blocks, {kSpin});
            std::map<std::uint32_t, std::vector<std::uint32_t>> by_cluster;
            for (std::size_t i = 0; i < words.size(); i += 4) by_cluster[words[i + 1]].push_back(words[i]);
            auto found = by_cluster.begin()->second;
            std::ranges::sort(found);
            found.erase(std::ranges::unique(found).begin(), found.end());
            return found;
        } catch (const DeviceError&) {
            continue;  // The driver refuses clusters that are too large for this GPU.
        }
    }
    return {};
}

class Ports {
public:
    Ports(Context& context, std::vector<std::uint32_t> sms, Outcome& outcome)
        : context_(context),
          sms_(std::move(sms)),
          kernel_(context.device, kernel_of(target_of(context.device)), {LoopedCode{{"LDG", kAccess}, kUnroll}}),
          data_(context.device, Bytes{kWindow * static_cast<std::int64_t>(sms_.size())}),
          numbers_(context.device, Bytes{4 * std::int64_t{sms_of(context.device)}}) {
        add_code_checks(kernel_, outcome);
    }

    /// Bytes a cycle of the first `active` SMs together.
    [[nodiscard]] double rate(std::size_t active) {
        std::vector<std::uint32_t> numbers(sms_of(context_.device), 0);
        for (std::size_t i = 0; i < active; ++i) numbers[sms_[i]] = static_cast<std::uint32_t>(i + 1);
        numbers_.write(std::span<const std::uint32_t>(numbers));
        const std::uint32_t iterations = context_.quick ? kQuickIterations : kIterations;
        const double ns = elapsed(2 * iterations) - elapsed(iterations);
        const double cycles = ns * sm_mhz_of(context_.findings, context_.device) / 1000;
        const double bytes = static_cast<double>(active) * iterations * static_cast<double>(kIterationBytes);
        return cycles > 0 ? bytes / cycles : 0;
    }

private:
    double elapsed(std::uint32_t iterations) {
        double fastest = 1e18;
        for (int i = 0; i < (context_.quick ? kQuickLaunches : kLaunches); ++i) {
            device::Arguments arguments;
            arguments.add(data_.address()).add(numbers_.address()).add(iterations);
            fastest =
                std::min(fastest, kernel_.launch({sms_of(context_.device)}, {kThreads}, arguments).elapsed.count());
        }
        return fastest;
    }

    Context& context_;
    std::vector<std::uint32_t> sms_;
    CompiledKernel kernel_;
    device::Buffer data_, numbers_;
};

Outcome measure(Context& context) {
    Outcome outcome;
    const auto key = last_cache(context.findings);
    if (key.empty() || !executes_asynchronous_kernels(context.device)) {
        context.progress(1, "does not apply: only clusters of compute capability 9.0 show which SMs share a GPC");
        return outcome;
    }
    const auto sms = sms_of_a_gpc(context);
    if (sms.size() < kClusters.back()) {
        outcome.warnings.push_back(fmt::format(
            "gpc_ports: nothing was measured, because clusters showed {} SMs of one GPC; expected {} at least",
            sms.size(), kClusters.back()));
        return outcome;
    }
    Ports ports(context, sms, outcome);
    results::Trace trace{.name = "gpc_ports/sms", .experiment = "gpc_ports"};
    trace.columns = {{"SMs", "count", {}}, {"rate", "bytes/cycle", {}}};
    trace.plot = {.title = "Bytes a cycle that SMs of one GPC together read from the cache of all SMs",
                  .x = "SMs",
                  .y = {"rate"}};
    double one = 0, before = 0, all = 0;
    for (std::size_t active = 1; active <= sms.size(); active = active == 1 ? 2 : active + 2) {
        context.progress(static_cast<double>(active) / static_cast<double>(sms.size()),
                         fmt::format("{} SMs of a GPC", active));
        before = all;
        all = ports.rate(active);
        if (active == 1) one = all;
        trace.add_row(static_cast<double>(active), all);
    }
    outcome.traces.push_back(std::move(trace));
    const auto path = fmt::format("caches.{}.gpc_bytes_per_cycle", key);
    const Evidence evidence{
        "gpc_ports: SMs on which blocks of one cluster ran read lines of their own from the cache of all SMs",
        kConfidence, fmt::format("{} SMs together read {:.0f} bytes a cycle, one alone {:.1f}", sms.size(), all, one)};
    if (all > kLimited * one * static_cast<double>(sms.size())) {
        outcome.estimates.push_back(absent(path, evidence));
        return outcome;
    }
    const auto [least, most] = std::minmax(before, all);
    outcome.estimates.push_back(
        decided_real(path, {all, std::min(least, 0.98 * all), std::max(most, 1.02 * all)}, evidence));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace gpc_ports

Experiment gpc_ports_experiment() {
    return {
        .id = "gpc_ports",
        .title = "what the SMs of one GPC together read from the cache of all SMs",
        .source = "gputomo",
        .method = "memory-and-bandwidth",
        .explanation =
            "Blocks of a cluster run on SMs of one GPC. More and more of these SMs read lines of their own from the "
            "last cache. What all of them reach together, less than the sum of what each reaches alone, is what "
            "their common way carries.",
        .needs = {},
        .after = {"clock", "caches", "clusters"},
        .provides = {"caches.*.gpc_bytes_per_cycle"},
        .run = gpc_ports::run};
}

}  // namespace gputomo::experiments
