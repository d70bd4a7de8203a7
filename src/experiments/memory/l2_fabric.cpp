// Whether reads of DRAM and stores share a way through the partitions of the last cache: their rates alone and
// together.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/bandwidth/streaming.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace gputomo::experiments {
namespace l2_fabric {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;
using ptx::Vec;

/// Confidence of the estimate, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// The widest access of a thread, in bytes (PTX: v4.u32), and how many of them a thread has in flight.
constexpr std::int64_t kAccess = 16;
constexpr int kUnroll = 2;
constexpr std::int64_t kIterationBytes = kAccess * kUnroll;  ///< of a thread
/// The array that is read is this many times the last cache. A larger array takes longer, and
/// fewer of its lines stay in the cache.
constexpr std::int64_t kTimesCache = 8;
/// Stores go to a window of at most this part of the last cache, 1/4, so that they stay there. In a window that one
/// access of all threads fills, stores to a line follow each other so fast that they wait for each other.
constexpr std::int64_t kPartOfCache = 4;
/// In a smaller window stores to one line would wait for each other.
constexpr std::int64_t kSmallestWindow = 64 << 10;
/// Launches of each kernel, the fastest of which counts.
constexpr int kLaunches = 5, kQuickLaunches = 1;
/// Both together take at least this many times the longer of both alone if they share a way. Where they do not, their
/// queues in DRAM and caches add less than this.
constexpr double kShared = 1.25;

/// In the order of the members of Times.
struct Kind {
    const char* name;
    bool reads, stores;
};
constexpr std::array kKinds{Kind{"reads", true, false}, Kind{"stores", false, true}, Kind{"both", true, true}};

/// Each thread reads further parts of a large array in each iteration, and stores to further parts of a small window,
/// again and again.
ptx::KernelBuilder kernel_of(const Kind& kind, ptx::Target target) {
    ptx::KernelBuilder k(fmt::format("fabric_{}", kind.name), target);
    const Reg from = k.param(Type::u64, "from"), to = k.param(Type::u64, "to");
    const Reg step = k.param(Type::u64, "step");            // bytes between successive accesses of a thread
    const Reg in_window = k.param(Type::u64, "in_window");  // mask of offsets
    const Reg iterations = k.param(Type::u32, "iterations");
    const Reg index = k.thread_index();
    const Reg source = k.element(from, index, Bytes{kAccess});
    std::array<std::array<Reg, 4>, kUnroll> data;
    for (auto& words : data)
        for (Reg& word : words) k("mov.b32", word = k.reg(Type::b32), index);
    const Reg offset = k.reg(Type::u64), destination = k.reg(Type::u64), sum = k.reg(Type::b32);
    k("sub.u64", offset, source, from);
    k("mov.b32", sum, 0);
    k.loop(iterations, [&] {
        for (const auto& words : data) {
            if (!kind.reads) continue;
            k("ld.global.v4.b32", Vec{words[0], words[1], words[2], words[3]}, Mem{source});
            k("add.u64", source, source, step);
        }
        for (const auto& words : data) {
            if (kind.stores) {
                k("and.b64", destination, offset, in_window);
                k("add.u64", destination, destination, to);
                k("st.global.v4.b32", Mem{destination}, Vec{words[0], words[1], words[2], words[3]});
                k("add.u64", offset, offset, step);
            } else {
                for (const Reg word : words) k("xor.b32", sum, sum, word);
            }
        }
    });
    store_if_rare(k, sum, to);
    return k;
}

std::vector<CodeExpectation> expected_code(const Kind& kind) {
    std::vector<CodeExpectation> expected;
    if (kind.reads) expected.emplace_back(LoopedCode{{"LDG", kAccess}, kUnroll});
    if (kind.stores) expected.emplace_back(LoopedCode{{"STG", kAccess}, kUnroll});
    return expected;
}

/// Cycles that one byte read, one byte stored, or one of each takes all SMs together.
struct Times {
    double reads = 0, stores = 0, both = 0;
};

class Fabric {
public:
    Fabric(Context& context, std::int64_t cache)
        : context_(context),
          threads_(static_cast<std::uint32_t>(
              std::min<std::int64_t>(kThreads, attribute(device::Attribute::max_threads_per_block, kThreads)))),
          blocks_(static_cast<std::uint32_t>(sms_of(context.device)) *
                  static_cast<std::uint32_t>(std::max<std::int64_t>(
                      1, attribute(device::Attribute::max_threads_per_multiprocessor, threads_) / threads_))),
          cache_(cache),
          size_(std::min(kTimesCache * cache,
                         attribute(device::Attribute::total_memory_bytes, kTimesCache * cache) / 4)) {}

    /// Bytes that one iteration of all threads reads or stores.
    [[nodiscard]] std::int64_t iteration() const { return std::int64_t{threads_} * blocks_ * kIterationBytes; }
    /// Bytes that are stored to again and again: a power of two.
    [[nodiscard]] std::int64_t window() const {
        return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(cache_ / kPartOfCache)));
    }

    Times measure(Outcome& outcome) {
        source_ = device::Buffer(context_.device, Bytes{size_});
        destination_ = device::Buffer(context_.device, Bytes{window()});
        std::array<double, kKinds.size()> cycles{};
        for (std::size_t i = 0; i < cycles.size(); ++i) {
            context_.progress(static_cast<double>(i) / static_cast<double>(cycles.size()), kKinds[i].name);
            CompiledKernel kernel(context_.device, kernel_of(kKinds[i], target_of(context_.device)),
                                  expected_code(kKinds[i]));
            add_code_checks(kernel, outcome);
            cycles[i] = cycles_per_byte(kernel);
        }
        return {cycles[0], cycles[1], cycles[2]};
    }

private:
    static constexpr std::int64_t kThreads = 512;

    [[nodiscard]] std::int64_t attribute(device::Attribute name, std::int64_t otherwise) const {
        return context_.device.attribute(name).value_or(otherwise);
    }

    /// The second half of the iterations, which the cost of a launch does not change.
    double cycles_per_byte(CompiledKernel& kernel) {
        const auto most = static_cast<std::uint32_t>(std::max<std::int64_t>(2, size_ / iteration()));
        const double ns = elapsed(kernel, most) - elapsed(kernel, most / 2);
        const double bytes = static_cast<double>(most - most / 2) * static_cast<double>(iteration());
        return ns * sm_mhz_of(context_.findings, context_.device) / 1000 / bytes;
    }

    double elapsed(CompiledKernel& kernel, std::uint32_t iterations) {
        device::Arguments arguments;
        arguments.add(source_.address())
            .add(destination_.address())
            .add(static_cast<std::uint64_t>(iteration() / kUnroll))
            .add(static_cast<std::uint64_t>(window() - 1))
            .add(iterations);
        double fastest = 1e18;
        for (int i = 0; i < (context_.quick ? kQuickLaunches : kLaunches); ++i)
            fastest = std::min(fastest, kernel.launch({blocks_}, {threads_}, arguments).elapsed.count());
        return fastest;
    }

    Context& context_;
    std::uint32_t threads_, blocks_;
    std::int64_t cache_, size_;
    device::Buffer source_, destination_;
};

/// Whether the two share a way, and what it carries.
results::Estimate conclude(const Times& times, const std::string& path) {
    const double alone = std::max(times.reads, times.stores);
    const Evidence evidence{"l2_fabric: reads of DRAM and stores to resident lines by all SMs, alone and together",
                            kConfidence,
                            fmt::format("reads alone take {:.3g} cycles per KB, stores {:.3g}, one of each {:.3g}",
                                        1e3 * times.reads, 1e3 * times.stores, 1e3 * times.both)};
    if (times.both < kShared * alone) return absent(path, evidence);
    const double rate = 2 / times.both;
    return decided_real(path, {rate, 0.97 * rate, 1.03 * rate}, evidence);
}

Outcome measure(Context& context) {
    Outcome outcome;
    const auto key = last_cache(context.findings);
    const auto partitions = context.findings.number(fmt::format("caches.{}.partitions", key));
    if (!partitions || *partitions < 2) return outcome;  // what has one part needs no way between parts
    const auto cache = largest_cache(context);
    Fabric fabric(context, cache);
    if (fabric.window() < kSmallestWindow) {
        outcome.warnings.push_back(
            fmt::format("l2_fabric: nothing was measured, because a quarter of the last cache of "
                        "{} bytes is too little to store to",
                        cache));
        return outcome;
    }
    const Times times = fabric.measure(outcome);
    results::Trace trace{.name = "l2_fabric/rates", .experiment = "l2_fabric"};
    trace.columns = {{"reads", "bytes/cycle", {}}, {"stores", "bytes/cycle", {}}, {"both", "bytes/cycle", {}}};
    trace.add_row(1 / times.reads, 1 / times.stores, 2 / times.both);
    outcome.traces.push_back(std::move(trace));
    outcome.estimates.push_back(conclude(times, fmt::format("caches.{}.fabric_bytes_per_cycle", key)));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace l2_fabric

Experiment l2_fabric_experiment() {
    return {.id = "l2_fabric",
            .title = "the way that reads of DRAM and stores share between the partitions of the last cache",
            .source = "gputomo",
            .method = "memory-and-bandwidth",
            .explanation =
                "All SMs read an array from DRAM, or store to lines that the last cache holds, or do both. If both "
                "together take much longer than either, they share what connects the parts of the cache.",
            .needs = {},
            .after = {"clock", "caches", "latency_map"},
            .provides = {"caches.*.fabric_bytes_per_cycle"},
            .run = l2_fabric::run};
}

}  // namespace gputomo::experiments
