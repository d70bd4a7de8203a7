// A map of the latency of lines from every SM, which shows partitions of the cache that all SMs share. In Wong 2010,
// IV-G, the latency depends on the TPC; GPUs of two partitions answer more slowly from the far one.
#include "experiments/experiments.hpp"

#include "deduce/memory/partitions.hpp"
#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace gputomo::experiments {
namespace latency_map {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.95;
/// Lines of the map. More take longer; fewer show less of the range.
constexpr std::uint32_t kLines = 64;
/// Bytes over which the lines lie at random: few enough for any first TLB to hold after one visit, and their distance.
constexpr std::int64_t kRange = std::int64_t{8} << 20;
constexpr std::uint64_t kLine = 256;
/// Dependent loads between two clock reads in the two kernels. The difference of their times is free of everything else
/// between the reads.
constexpr int kFewLoads = 2, kManyLoads = 6;
/// Passes over all lines, of which the first warms the caches and the fastest counts.
constexpr int kPasses = 6;
/// Blocks of each SM in the grids that are launched until every SM had a block.
constexpr std::uint32_t kBlocksPerSm[] = {1, 4, 16};
constexpr std::uint32_t kNever = 0xffff'ffff;

/// The only thread of a block loads the lines, each SM from another one on. The word of a line holds its own address.
ptx::KernelBuilder map_kernel(ptx::Target target, int loads) {
    ptx::KernelBuilder k(fmt::format("latency_map_{}", loads), target);
    const Reg lines = k.param(Type::u64, "lines"), count = k.param(Type::u32, "count"),
              results = k.param(Type::u64, "results");
    const Reg sm = k.special(SpecialRegister::smid), first = k.reg(Type::u32);
    k("mul.lo.u32", first, sm, count);
    const Reg row = k.element(results, first, Bytes{4});
    const Reg number = k.reg(Type::u32), at = k.reg(Type::u64), taken = k.reg(Type::u32);
    k.loop(kPasses, [&] {
        k.loop(count, [&](Reg iteration) {
            k("add.u32", number, iteration, sm);
            k("rem.u32", number, number, count);
            k("ld.global.u64", at, Mem{k.element(lines, number, Bytes{8})});
            k("ld.global.cg.u64", at, Mem{at});
            const Reg begin = k.clock_after(at);
            k.repeat(loads, [&](int) { k("ld.global.cg.u64", at, Mem{at}); });
            k("sub.u32", taken, k.clock_after(at), begin);
            k("red.global.min.u32", Mem{k.element(row, number, Bytes{4})}, taken);
        });
    });
    return k;
}

class MapOfSms {
public:
    explicit MapOfSms(Context& context)
        : context_(context),
          sms_(sms_of(context.device)),
          memory_(context.device, Bytes{kRange}),
          lines_(context.device, Bytes{8 * kLines}),
          results_(context.device, Bytes{std::int64_t{4} * kLines * sms_}),
          few_(compile(kFewLoads)),
          many_(compile(kManyLoads)) {
        write_lines();
    }

    Outcome measure() {
        Outcome outcome;
        add_code_checks(few_, outcome);
        add_code_checks(many_, outcome);
        const auto first = map(), second = map();
        outcome.traces.push_back(trace(first));
        conclude(deduce::find_partitions(first, second), outcome);
        return outcome;
    }

private:
    [[nodiscard]] CompiledKernel compile(int loads) const {
        return {context_.device,
                map_kernel(target_of(context_.device), loads),
                {TimedCode{.operation = {"LD|LDG", 8}, .counts = {loads}}}};
    }

    void write_lines() {
        std::mt19937_64 random(context_.seed);
        std::vector<std::uint64_t> numbers(kRange / kLine);
        std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
        std::shuffle(numbers.begin(), numbers.end(), random);
        for (std::uint32_t i = 0; i < kLines; ++i) offsets_.push_back(numbers[i] * kLine);
        std::ranges::sort(offsets_);
        std::vector<std::uint64_t> words(kRange / 8);
        std::vector<std::uint64_t> addresses;
        for (const auto offset : offsets_) {
            addresses.push_back(memory_.address() + offset);
            words[offset / 8] = addresses.back();
        }
        memory_.write(words);
        lines_.write(addresses);
    }

    /// Latencies by SM and line.
    deduce::LatencyMap map() {
        const auto few = fastest(few_), many = fastest(many_);
        deduce::LatencyMap latencies(sms_);
        for (std::size_t i = 0; i < few.size(); ++i)
            latencies[i / kLines].push_back((static_cast<double>(many[i]) - few[i]) / (kManyLoads - kFewLoads));
        return latencies;
    }

    /// Fastest cycles between the clock reads for each line, SM by SM. Throws DeviceError if an SM gets no block.
    std::vector<std::uint32_t> fastest(CompiledKernel& kernel) {
        device::Arguments arguments;
        arguments.add(lines_.address()).add(kLines).add(results_.address());
        context_.device.fill_u32(results_.address(), kNever, std::size_t{kLines} * sms_);
        for (const std::uint32_t blocks : kBlocksPerSm) {
            kernel.launch({blocks * sms_}, {1}, arguments);
            auto taken = results_.read<std::uint32_t>(std::size_t{kLines} * sms_);
            if (std::ranges::find(taken, kNever) == taken.end()) return taken;
        }
        throw DeviceError(fmt::format("latency_map: some of {} SMs get no block in a grid of {} blocks", sms_,
                                      sms_ * kBlocksPerSm[std::size(kBlocksPerSm) - 1]));
    }

    [[nodiscard]] results::Trace trace(const deduce::LatencyMap& map) const {
        results::Trace trace{.name = "latency_map/map", .experiment = "latency_map"};
        trace.columns = {
            {"line", "number", {}}, {"sm", "number", {}}, {"offset", "bytes", {}}, {"latency", "cycles", {}}};
        for (std::size_t sm = 0; sm < map.size(); ++sm)
            for (std::size_t line = 0; line < map[sm].size(); ++line)
                trace.add_row(line, sm, offsets_[line], map[sm][line]);
        trace.plot = {.title = "Latency of single lines past the first cache, from every SM",
                      .x = "line",
                      .y = {"sm"},
                      .shade = "latency"};
        return trace;
    }

    /// Adds the partitions and the far latency of the last cache, if all SMs share it.
    void conclude(const deduce::Partitions& partitions, Outcome& outcome) const {
        const auto caches = names_of(context_.findings, "paths.global.caches");
        // The loads go past the first cache of an SM.
        if (caches.empty() || caches.back() == "l1") return;
        const auto leaf = [&](std::string_view name) { return fmt::format("caches.{}.{}", caches.back(), name); };
        const Evidence evidence{
            "latency_map: SMs and lines in groups that explain which SM waits longer for which line", kConfidence,
            partitions.why};
        if (partitions.count == 0) {
            outcome.estimates.push_back(undecided(leaf("partitions"), {}, evidence));
            return;
        }
        outcome.estimates.push_back(decided(leaf("partitions"), static_cast<std::int64_t>(partitions.count), evidence));
        if (partitions.count == 1)
            outcome.estimates.push_back(absent(leaf("far_latency"), evidence));
        else
            outcome.estimates.push_back(decided_integer(
                leaf("far_latency"), {partitions.far, partitions.far - 1, partitions.far + 1}, evidence));
    }

    Context& context_;
    std::uint32_t sms_;
    device::Buffer memory_, lines_, results_;
    CompiledKernel few_, many_;
    std::vector<std::uint64_t> offsets_;
};

Outcome run(Context& context) {
    return watched(context, [](Context& watched_context) { return MapOfSms(watched_context).measure(); });
}

}  // namespace
}  // namespace latency_map

Experiment latency_map_experiment() {
    return {.id = "latency_map",
            .title = "latency of single lines from every SM, and partitions of the cache that all share",
            .source = "Wong 2010, IV-G",
            .method = "cache-geometry",
            .explanation =
                "One thread on each SM reads lines that only the cache of all SMs holds, one after the other, "
                "several times each. Where some SMs wait longer for some lines, and other SMs for other lines, the "
                "cache has partitions.",
            .needs = {},
            .after = {"clock", "caches", "scopes"},
            .provides = {"caches.*.partitions", "caches.*.far_latency"},
            .run = latency_map::run};
}

}  // namespace gputomo::experiments
