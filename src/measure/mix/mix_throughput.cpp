#include "measure/mix/mix_throughput.hpp"

#include "measure/kernel/device_facts.hpp"
#include "measure/mix/mix_timeline.hpp"
#include "sass/machine_code.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gputomo::measure {
namespace {

/// The first window that is tried: iterations of a typical warp, or loads of a chain from memory if those take longer.
/// Each next window is kLonger times longer.
constexpr double kFirstIterations = 3;
constexpr double kFirstLines = 96;
constexpr double kLonger = 3;
/// Windows that are tried before an occupancy gives no sample.
constexpr int kTries = 7;
/// Most windows of a sample. A total time that is shorter than requested by up to this share of a window is accepted.
constexpr double kMostWindows = 6;
constexpr double kNearlyWhole = 0.1;
/// Iterations for which all warps run on while slower ones still count.
constexpr double kIterationsAfter = 2;
/// Before the window: iterations of a typical warp, and cycles in which code and translations enter their caches.
constexpr double kSettleIterations = 1;
constexpr double kCold = 5'000;
/// If a typical iteration takes longer than expected by more than this factor, the warps had not settled.
constexpr double kMuchLonger = 1.5;
/// If a warp ran out of lines, its iterations are expected to be shorter than the shortest known mean by this factor.
constexpr double kShorter = 0.8;
/// Iterations beyond the intended ones: those in progress at the ends of phases.
constexpr std::int64_t kFurther = 4;
/// SM numbers are below this.
constexpr std::int64_t kMostSmNumbers = 1024;
/// Share of the work that may come from warps that waited for most of the window. A scheduler that prefers old warps
/// lets young ones wait while there is work, so it is unknown when in the window they ran.
constexpr double kUncertain = 0.004;
/// The share that is accepted where the window cannot grow, because the warps would run out of lines.
constexpr double kMostUncertain = 0.02;

std::uint32_t whole(double cycles) { return static_cast<std::uint32_t>(std::ceil(cycles)); }

/// Whether the loop holds little besides the mix: the loop's own instructions, and moves for few of the addresses
/// (many chains need many registers). False without machine code, because no compiler removes moves then.
bool moves_vanished(const CompiledKernel& kernel, const MixShape& shape) {
    const int others = 16 + shape.lines() * shape.chains / 4;
    const auto& machine_code = kernel.module().machine_code();
    if (!machine_code) return false;
    const sass::Cubin cubin(machine_code->cubin);
    if (!sass::unsupported_reason(cubin).empty()) return false;
    const auto code = sass::kernel_code(cubin, kernel.name());
    const auto fits = [&](sass::CodeRange loop) {
        return static_cast<int>(loop.size()) >= shape.instructions() &&
               static_cast<int>(loop.size()) <= shape.instructions() + others;
    };
    return std::ranges::any_of(code.loops(), fits);
}

/// Sets shape.moves_vanish to what the compiler does.
CompiledKernel compile(device::Device& device, MixShape& shape) {
    shape.moves_vanish = true;
    try {
        CompiledKernel kernel(device, mix_kernel(target_of(device), shape), expected_code(shape));
        if (moves_vanished(kernel, shape)) return kernel;
    } catch (const CodeMismatch&) {
        if (!shape.reads_lines()) throw;  // otherwise compile as written
    }
    shape.moves_vanish = false;
    return {device, mix_kernel(target_of(device), shape), expected_code(shape)};
}

}  // namespace

MixThroughput::MixThroughput(device::Device& device, const MixShape& shape, LinkedArray& array)
    : device_(device), shape_(shape), array_(array), kernel_(compile(device, shape_)), sms_(sms_of(device)) {
    const auto most = device.attribute(device::Attribute::max_threads_per_multiprocessor).value_or(1024) / kWarpSize;
    records_ = device::Buffer(device, Bytes{sms_ * most * static_cast<std::int64_t>(sizeof(MixRecord))});
    gate_ = device::Buffer(device, Bytes{sizeof(std::uint32_t)});
    origins_ = device::Buffer(device, Bytes{kMostSmNumbers * static_cast<std::int64_t>(sizeof(std::uint32_t))});
    device.fill_u32(gate_.address(), 0, 1);
}

/// Iterations of a warp that runs as fast as one alone, and those that end after a limit.
std::int64_t MixThroughput::iterations_for(const Window& window) const {
    const std::int64_t wanted =
        shortest_iteration_ > 0
            ? static_cast<std::int64_t>((window.settle + window.cycles + window.after) / shortest_iteration_) + kFurther
            : kFurther;
    return shape_.lines() == 0 ? wanted : std::min<std::int64_t>(wanted, kMostLines / shape_.chains / shape_.lines());
}

double MixThroughput::least_cycles(const Window& window) const {
    if (shape_.lines() == 0 || array_.is_ring()) return kLeastWindow;
    const std::int64_t most_iterations = kMostLines / shape_.lines() / shape_.chains - kFurther - 2;
    return std::clamp(static_cast<double>(most_iterations) * shortest_iteration_ - window.settle - window.after,
                      kLeastWindow, least_window_);
}

std::vector<MixRecord> MixThroughput::run(const BlockShape& blocks, const Window& window) {
    constexpr std::int64_t kApart = 37;  // lines between neighbouring chains of a ring
    const std::int64_t grid = sms_ * blocks.per_sm, warps = grid * blocks.warps, chains = warps * shape_.chains;
    const std::int64_t iterations = iterations_for(window),
                       lines = array_.is_ring() ? kApart : iterations * shape_.lines();
    const std::int64_t first_line = shape_.reads_lines() ? array_.take(chains, lines) : 0;
    const bool bounded = shape_.reads_lines() && !array_.is_ring();
    device::Arguments arguments;
    array_.add_to(arguments, first_line, lines);
    arguments.add(bounded ? static_cast<std::uint32_t>(iterations - 2)
                          : ~std::uint32_t{0});  // the last phases add two more
    device_.fill_u32(origins_.address(), 0, kMostSmNumbers);
    gate_goal_ += static_cast<std::uint32_t>(grid);
    arguments.add(whole(window.settle))
        .add(whole(window.cycles))
        .add(whole(window.after))
        .add(kMixZero)
        .add(records_.address())
        .add(gate_.address())
        .add(gate_goal_)
        .add(origins_.address());
    kernel_.launch({static_cast<std::uint32_t>(grid)}, {static_cast<std::uint32_t>(blocks.warps * kWarpSize)},
                   arguments, shared_for(device_, blocks.per_sm));
    auto records = records_.read<MixRecord>(static_cast<std::size_t>(warps));
    for (std::size_t warp = 0; warp < records.size(); ++warp) {
        if (!shape_.arithmetic_only &&
            (shape_.access == MixAccess::shared || shape_.access == MixAccess::shared_conflict))
            continue;  // the host does not know these addresses
        std::uint32_t expected = 0;
        for (int chain = 0; chain < shape_.chains; ++chain)
            expected += shape_.reads_lines()
                            ? array_.after(first_line, static_cast<std::int64_t>(warp) * shape_.chains + chain, lines,
                                           std::int64_t{records[warp].iterations} * shape_.lines())
                            : kMixOne;
        if (records[warp].pointers != expected)
            throw DeviceError(fmt::format("kernel {}: warp {} ended with values that sum to {:#x}; expected {:#x}",
                                          kernel_.name(), warp, records[warp].pointers, expected));
    }
    return records;
}

void MixThroughput::probe() {
    iteration_cycles_ = shortest_iteration_ = mix_timeline_of(run({1, 1}, {1, 1, 1}), 1, 1, 1).shortest_iteration;
}

std::optional<MixSample> MixThroughput::sample(int warps) {
    const auto blocks = blocks_for(device_, warps, kernel_.properties().max_threads_per_block);
    if (!blocks) return std::nullopt;
    if (shortest_iteration_ == 0) probe();
    double iterations =
        std::max({kFirstIterations, shape_.lines() > 0 ? kFirstLines / shape_.lines() : 0, iterations_ / kLonger});
    for (int attempt = 0; attempt < kTries; ++attempt, iterations *= kLonger) {
        const double expected = iteration_cycles_;
        Window window{skew_ + kSettleIterations * iteration_cycles_ + kCold, iterations * iteration_cycles_,
                      kIterationsAfter * iteration_cycles_};
        window.cycles = std::max(window.cycles, least_cycles(window));
        const bool longest = shape_.lines() > 0 && !array_.is_ring() &&
                             (iterations_for(window) + 1) * shape_.lines() * shape_.chains > kMostLines;
        if (longest) {
            const auto whole_ring = kMostLines / shape_.lines() / shape_.chains;
            window.cycles =
                std::max(shortest_iteration_, (static_cast<double>(whole_ring) - kFurther) * shortest_iteration_ -
                                                  window.settle - window.after);
        }
        const MixTimeline line =
            mix_timeline_of(run(*blocks, window), warps, std::ceil(window.settle), std::ceil(window.cycles));
        if (!line.balanced || !line.resident) return std::nullopt;
        if (!line.lasted || (longest && line.uncertain > kMostUncertain * line.iterations)) {
            shortest_iteration_ = std::min(shortest_iteration_, line.shortest_iteration) * kShorter;
            continue;
        }
        skew_ = std::max(skew_, line.skew);
        iteration_cycles_ = static_cast<double>(sms_ * warps) / line.iterations_per_cycle;
        // At this occupancy: with more warps even the fastest one is slower, and its lines last for a longer window.
        shortest_iteration_ = line.shortest_iteration;
        if (iteration_cycles_ > kMuchLonger * expected) continue;
        if (longest && window.cycles < iteration_cycles_) return std::nullopt;
        if (line.uncertain > kUncertain * line.iterations && !longest) continue;
        iterations_ = iterations;
        double rate = line.iterations_per_cycle, slowest = line.slowest;
        const int windows =
            shape_.lines() == 0 || array_.is_ring()
                ? 1
                : static_cast<int>(std::min(kMostWindows, std::ceil(least_window_ / window.cycles - kNearlyWhole)));
        int counted = 1;
        for (int i = 1; i < windows; ++i) {
            const MixTimeline again =
                mix_timeline_of(run(*blocks, window), warps, std::ceil(window.settle), std::ceil(window.cycles));
            if (!again.balanced || !again.resident || !again.lasted) continue;
            rate += again.iterations_per_cycle, slowest += again.slowest;
            ++counted;
        }
        return sample_of(warps, rate / counted, slowest / counted);
    }
    return std::nullopt;
}

MixSample MixThroughput::sample_of(int warps, double iterations_per_cycle, double slowest) const {
    const double per_sm = iterations_per_cycle / static_cast<double>(sms_);
    return {
        .warps = warps, .instructions_per_cycle = per_sm * shape_.instructions(), .slowest = slowest * warps / per_sm};
}

std::optional<double> MixThroughput::instructions_per_cycle(int warps) {
    const auto found = sample(warps);
    return found ? std::optional(found->instructions_per_cycle) : std::nullopt;
}

std::optional<double> MixThroughput::cycles_of_one_warp() {
    const auto rate = instructions_per_cycle(1);
    return rate ? std::optional(1 / *rate) : std::nullopt;
}

double MixThroughput::most_instructions_per_cycle(std::span<const int> warps) {
    double most = 0;
    for (const int count : warps) most = std::max(most, instructions_per_cycle(count).value_or(0));
    return most;
}

}  // namespace gputomo::measure
