#include "measure/mix/mix_throughput.hpp"

#include "device/machine_code.hpp"
#include "measure/kernel/device_facts.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace gputomo::measure {
namespace {

constexpr int kWarp = 32;
/// Turns of a typical warp in the first window that is tried, and loads of a chain from memory; each next window is as
/// many times longer.
constexpr double kFirstTurns = 3;
constexpr double kFirstLines = 96;
constexpr double kLonger = 3;
constexpr int kTries = 7;
/// Windows of a sample at most, and the part of one that may be missing from the time that they should have together.
constexpr double kMostWindows = 6;
constexpr double kNearlyWhole = 0.1;
/// Turns for which all warps go on while slower ones still count.
constexpr double kTurnsAfter = 2;
/// Before the window: turns of a typical warp, and cycles in which code and translations come into their caches.
constexpr double kSettleTurns = 1;
constexpr double kCold = 5'000;
/// A typical turn is longer by more than what it was expected to be: the warps had not settled.
constexpr double kMuchLonger = 1.5;
/// Some warp ran out of lines: its turns are shorter by about as much than the shortest known mean.
constexpr double kShorter = 0.8;
/// Turns more than those that are meant to be done: the ones under way at the ends of phases.
constexpr std::int64_t kBehind = 4;
/// SMs are numbered below this.
constexpr std::int64_t kMostSmNumbers = 1024;
/// Part of the work that may be turns of warps that waited for most of the window. A scheduler that prefers old warps
/// lets young ones wait for as long as there is work, and when in the window their turns were is not known.
constexpr double kUncertain = 0.004;
/// Where the window cannot grow, because the warps would run out of lines.
constexpr double kMostUncertain = 0.02;

std::uint32_t whole(double cycles) { return static_cast<std::uint32_t>(std::ceil(cycles)); }

/// Clocks wrap round.
double cycles_between(std::uint32_t from, std::uint32_t to) { return static_cast<std::int32_t>(to - from); }

/// What one warp did in the window.
struct Progress {
    double iterations = 0;
    double loop_length = 0;  ///< cycles of one, from mark to mark
    bool known = true;  ///< its turns at both ends of the window were over before another warp left, and went on under
                        ///< the conditions of the window
};

/// Both marks are the first ends of turns behind the ends of the window; the parts of those turns that had been done
/// before are those of their time. Of a turn that ended when others had left already, it is not known what had been
/// done before: a warp that waits while others work is fast when they have gone.
Progress progress_of(const MixRecord& warp, double settle, double window, double first_exit) {
    const auto since = [&](std::uint32_t time) { return cycles_between(warp.origin, time); };
    const double from = settle, to = settle + window;
    Progress progress{.loop_length = cycles_between(warp.settled.time, warp.counted.time) /
                                     (warp.counted.iterations - warp.settled.iterations)};
    const auto done_at = [&](const MixRecord::Mark& mark, double time) {
        const double end = since(mark.time), begin = since(mark.begin);
        if (end > first_exit) progress.known = false;
        const double missing = end > first_exit ? 0.5 : (end - time) / (end - begin);
        return mark.iterations - std::clamp(missing, 0.0, 1.0);
    };
    const bool spans = since(warp.settled.time) >= to;  // one turn was under way for the whole window
    progress.iterations = done_at(spans ? warp.settled : warp.counted, to) - done_at(warp.settled, from);
    return progress;
}

/// What the records say of all SMs together.
struct Timeline {
    bool balanced = true;                                      ///< every SM had the same number of warps
    bool resident = true;                                      ///< on every SM the last one came before the window
    bool lasted = true;                                        ///< no warp ran out of lines before the window was over
    double skew = 0;                                           ///< most cycles from an SM's origin to a start
    double iterations_per_cycle = 0;                           ///< sum over SMs
    double iterations = 0;                                     ///< in all windows
    double uncertain = 0;                                      ///< turns of which it is not known when they were
    double slowest = std::numeric_limits<double>::infinity();  ///< turns per cycle of a warp
    double shortest_turn = std::numeric_limits<double>::infinity();
};

void add_sm(Timeline& line, const std::vector<MixRecord>& warps, double settle, double window) {
    double last_arrival = 0, first_exit = std::numeric_limits<double>::infinity();
    for (const auto& warp : warps) {
        last_arrival = std::max(last_arrival, cycles_between(warps.front().origin, warp.arrival));
        first_exit = std::min(first_exit, cycles_between(warps.front().origin, warp.ended.time));
        line.lasted = line.lasted && cycles_between(warp.origin, warp.counted.time) >= settle + window;
    }
    line.resident = line.resident && last_arrival < settle;
    for (const auto& warp : warps) {
        const auto progress = progress_of(warp, settle, window, first_exit);
        if (!progress.known)
            line.uncertain += 1;
        else
            line.skew = std::max(line.skew, cycles_between(warp.origin, warp.start));
        line.shortest_turn = std::min(line.shortest_turn, progress.loop_length);
        line.iterations += progress.iterations;
        line.iterations_per_cycle += progress.iterations / window;
        line.slowest = std::min(line.slowest, progress.iterations / window);
    }
}

Timeline timeline_of(const std::vector<MixRecord>& records, int warps_per_sm, double settle, double window) {
    std::map<std::uint32_t, std::vector<MixRecord>> by_sm;
    for (const auto& record : records) by_sm[record.sm].push_back(record);
    Timeline line;
    for (const auto& [sm, warps] : by_sm) {
        (void)sm;
        line.balanced = line.balanced && std::ssize(warps) == warps_per_sm;
        add_sm(line, warps, settle, window);
    }
    return line;
}

/// Whether the loop with the mix holds little else: what a loop takes, and a move for few of the addresses (many chains
/// crowd the registers). Without machine code there is no compiler that leaves anything out.
bool moves_vanished(const CompiledKernel& kernel, const MixShape& shape) {
    const int others = 16 + shape.lines() * shape.chains / 4;
    const auto& machine_code = kernel.module().machine_code();
    if (!machine_code) return false;
    const device::Cubin cubin(machine_code->cubin);
    if (!device::not_supported(cubin).empty()) return false;
    const auto code = device::decode(cubin, kernel.name());
    const auto fits = [&](device::CodeRange loop) {
        return static_cast<int>(loop.size()) >= shape.instructions() &&
               static_cast<int>(loop.size()) <= shape.instructions() + others;
    };
    return std::ranges::any_of(code.loops(), fits);
}

/// Sets shape.moves_vanish as the compiler has it.
CompiledKernel compile(device::Device& device, MixShape& shape) {
    shape.moves_vanish = true;
    try {
        CompiledKernel kernel(device, mix_kernel(target_of(device), shape), expected_code(shape));
        if (moves_vanished(kernel, shape)) return kernel;
    } catch (const CodeMismatch&) {
        if (!shape.reads_lines()) throw;  // else as written
    }
    shape.moves_vanish = false;
    return {device, mix_kernel(target_of(device), shape), expected_code(shape)};
}

}  // namespace

MixThroughput::MixThroughput(device::Device& device, const MixShape& shape, LinkedArray& array)
    : device_(device), shape_(shape), array_(array), kernel_(compile(device, shape_)), sms_(sms_of(device)) {
    const auto most = device.attribute(device::Attribute::max_threads_per_multiprocessor).value_or(1024) / kWarp;
    records_ = device::Buffer(device, Bytes{sms_ * most * static_cast<std::int64_t>(sizeof(MixRecord))});
    gate_ = device::Buffer(device, Bytes{sizeof(std::uint32_t)});
    origins_ = device::Buffer(device, Bytes{kMostSmNumbers * static_cast<std::int64_t>(sizeof(std::uint32_t))});
    device.fill_u32(gate_.address(), 0, 1);
}

/// Turns of a warp that goes on as fast as one alone, and those that end behind a limit.
std::int64_t MixThroughput::iterations_for(const Window& window) const {
    const std::int64_t wanted =
        shortest_iteration_ > 0
            ? static_cast<std::int64_t>((window.settle + window.cycles + window.after) / shortest_iteration_) + kBehind
            : kBehind;
    return shape_.lines() == 0 ? wanted : std::min<std::int64_t>(wanted, kMostLines / shape_.chains / shape_.lines());
}

double MixThroughput::least_cycles(const Window& window) const {
    if (shape_.lines() == 0 || array_.is_ring()) return kLeastWindow;
    const std::int64_t most_turns = kMostLines / shape_.lines() / shape_.chains - kBehind - 2;
    return std::clamp(static_cast<double>(most_turns) * shortest_iteration_ - window.settle - window.after,
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
                          : ~std::uint32_t{0});  // two more are done where the first phase reaches it
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
    kernel_.launch({static_cast<std::uint32_t>(grid)}, {static_cast<std::uint32_t>(blocks.warps * kWarp)}, arguments,
                   shared_for(device_, blocks.per_sm));
    auto records = records_.read<MixRecord>(static_cast<std::size_t>(warps));
    for (std::size_t warp = 0; warp < records.size(); ++warp) {
        if (!shape_.arithmetic_only &&
            (shape_.access == MixAccess::shared || shape_.access == MixAccess::shared_conflict))
            continue;  // addresses that the host does not know
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
    iteration_cycles_ = shortest_iteration_ = timeline_of(run({1, 1}, {1, 1, 1}), 1, 1, 1).shortest_turn;
}

std::optional<MixSample> MixThroughput::sample(int warps) {
    const auto blocks = blocks_for(device_, warps, kernel_.properties().max_threads_per_block);
    if (!blocks) return std::nullopt;
    if (shortest_iteration_ == 0) probe();
    double iterations =
        std::max({kFirstTurns, shape_.lines() > 0 ? kFirstLines / shape_.lines() : 0, iterations_ / kLonger});
    for (int attempt = 0; attempt < kTries; ++attempt, iterations *= kLonger) {
        const double expected = iteration_cycles_;
        Window window{skew_ + kSettleTurns * iteration_cycles_ + kCold, iterations * iteration_cycles_,
                      kTurnsAfter * iteration_cycles_};
        window.cycles = std::max(window.cycles, least_cycles(window));
        const bool longest = shape_.lines() > 0 && !array_.is_ring() &&
                             (iterations_for(window) + 1) * shape_.lines() * shape_.chains > kMostLines;
        if (longest)
            window.cycles = std::max(
                shortest_iteration_,
                (static_cast<double>(kMostLines / shape_.lines() / shape_.chains) - kBehind) * shortest_iteration_ -
                    window.settle - window.after);
        const Timeline line =
            timeline_of(run(*blocks, window), warps, std::ceil(window.settle), std::ceil(window.cycles));
        if (!line.balanced || !line.resident) return std::nullopt;
        if (!line.lasted || (longest && line.uncertain > kMostUncertain * line.iterations)) {
            shortest_iteration_ = std::min(shortest_iteration_, line.shortest_turn) * kShorter;
            continue;
        }
        skew_ = std::max(skew_, line.skew);
        iteration_cycles_ = static_cast<double>(sms_ * warps) / line.iterations_per_cycle;
        // At this occupancy: among more warps the fastest is slower, and its lines last for a longer window.
        shortest_iteration_ = line.shortest_turn;
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
            const Timeline again =
                timeline_of(run(*blocks, window), warps, std::ceil(window.settle), std::ceil(window.cycles));
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

std::vector<int> mix_occupancies(int schedulers, int most) {
    constexpr int kPerDoubling = 4;
    std::vector<int> found;
    for (int step = 1; step * schedulers <= most; ++step) {
        int doubling = 1;
        while (2 * doubling <= step) doubling *= 2;
        if (step % std::max(1, doubling / kPerDoubling) == 0) found.push_back(step * schedulers);
    }
    return found;
}

std::vector<int> mix_alphas(bool quick) {
    constexpr int kMost = 512;
    std::vector<int> alphas;
    for (double alpha = 1; alpha <= kMost * 1.01; alpha *= quick ? 4.0 : std::sqrt(2.0))
        if (const int rounded = static_cast<int>(std::lround(alpha)); alphas.empty() || alphas.back() != rounded)
            alphas.push_back(rounded);
    return alphas;
}

}  // namespace gputomo::measure
