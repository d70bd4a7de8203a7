#include "experiments/mix/mix_throughput.hpp"

#include "device/machine_code.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace gputomo::experiments {
namespace {

constexpr int kWarp = 32;
/// Turns of a typical warp in the first window that is tried, and loads of a chain from memory; each next window is as many times longer.
constexpr double kFirstTurns = 3;
constexpr double kFirstLines = 32;
constexpr double kLonger = 3;
constexpr int kTries = 7;
/// Turns for which all warps go on while slower ones still count.
constexpr double kTurnsAfter = 2;
/// Cycles of a window at least: a thousand times what reading a clock may be off.
constexpr double kLeastWindow = 10'000;
/// Part of the work that may be turns of warps that waited for most of the window. A scheduler that prefers old warps lets young ones wait for as
/// long as there is work, and when in the window their turns were is not known.
constexpr double kUncertain = 0.004;
/// Where the window cannot grow, because the warps would run out of lines.
constexpr double kMostUncertain = 0.02;

/// Dynamic shared memory with which `blocks` fit an SM and not one more, as far as one block may take so much; where it may not,
/// the grid has no more blocks than are meant to be there.
Bytes shared_for(const device::Device& device, int blocks) {
    using enum device::Attribute;
    constexpr std::int64_t kUnit = 256, kOverhead = 512;
    const auto per_sm = device.attribute(max_shared_memory_per_multiprocessor).value_or(16384);
    const auto per_block = device.attribute(max_shared_memory_per_block).value_or(16384);
    return Bytes{std::max(kUnit, std::min(per_block - kOverhead, per_sm / (blocks + 1) / kUnit * kUnit + kOverhead))};
}

std::uint32_t whole(double cycles) { return static_cast<std::uint32_t>(std::ceil(cycles)); }

/// A warp's turns by time, linear between the marks of its record.
struct Progress {
    struct Mark {
        double time, turns;
    };
    double arrival;
    std::array<Mark, 4> marks;  ///< start, settled, counted, end

    [[nodiscard]] double at(double time) const {
        if (time <= marks.front().time) return 0;
        for (std::size_t i = 1; i < marks.size(); ++i) {
            const auto [from, to] = std::pair(marks[i - 1], marks[i]);
            if (time <= to.time) return from.turns + (to.turns - from.turns) * (time - from.time) / (to.time - from.time);
        }
        return marks.back().turns;
    }
    [[nodiscard]] double settled() const { return marks[1].time; }
    [[nodiscard]] double counted() const { return marks[2].time; }
    [[nodiscard]] double end() const { return marks[3].time; }
    /// Of the window that it counted, in turns per cycle.
    [[nodiscard]] double rate() const { return (marks[2].turns - marks[1].turns) / (counted() - settled()); }
};

/// One SM's warps, on a clock that starts at the first one's arrival.
std::vector<Progress> progress_of(const std::vector<MixRecord>& warps) {
    const std::uint32_t origin = warps.front().arrival;  // clocks wrap round
    const auto since = [&](std::uint32_t time) { return static_cast<double>(static_cast<std::int32_t>(time - origin)); };
    const auto mark = [&](const MixRecord::Mark& m) { return Progress::Mark{since(m.time), static_cast<double>(m.turns)}; };
    std::vector<Progress> all;
    for (const auto& warp : warps) all.push_back({since(warp.arrival), {{{since(warp.start), 0}, mark(warp.settled), mark(warp.counted), mark(warp.end)}}});
    return all;
}

/// What the records say of all SMs together.
struct Timeline {
    bool balanced = true;        ///< every SM had the same number of warps
    bool resident = true;        ///< on every SM the last one came before the first one ended
    double skew = 0;             ///< most cycles between starts on one SM
    double turns_per_cycle = 0;  ///< sum over SMs
    double turns = 0;            ///< in all windows
    double uncertain = 0;        ///< turns of which it is not known when they were
    double slowest = std::numeric_limits<double>::infinity();  ///< turns per cycle of a warp
    double shortest_turn = std::numeric_limits<double>::infinity();
};

/// A warp that settled before the middle of the time in which all ran, and counted to its end while all did, went on at the rate that it counted. Of
/// others the turns in that time are taken.
void add_sm(Timeline& line, const std::vector<Progress>& warps) {
    double first_start = warps.front().marks.front().time, last_start = first_start, last_arrival = 0, to = warps.front().end();
    for (const auto& warp : warps) {
        const double start = warp.marks.front().time;
        first_start = std::min(first_start, start), last_start = std::max(last_start, start);
        last_arrival = std::max(last_arrival, warp.arrival), to = std::min(to, warp.end());
    }
    line.resident = line.resident && last_arrival < to;
    if (last_arrival >= to) return;
    double from = std::max(first_start, last_arrival), rate = 0;
    for (const auto& warp : warps)
        if (warp.settled() < (from + to) / 2) from = std::max(from, warp.settled());
    for (const auto& warp : warps) {
        const bool steady = warp.settled() <= from && warp.counted() <= to;
        const double own = steady ? warp.rate() : (warp.at(to) - warp.at(from)) / (to - from);
        if (!steady && own > 0) line.uncertain += 1;
        if (steady) line.skew = std::max(line.skew, warp.marks.front().time - first_start), line.shortest_turn = std::min(line.shortest_turn, 1 / own);
        line.slowest = std::min(line.slowest, own);
        rate += own;
    }
    line.turns += rate * (to - from);
    line.turns_per_cycle += rate;
}

Timeline timeline_of(const std::vector<MixRecord>& records, int warps_per_sm) {
    std::map<std::uint32_t, std::vector<MixRecord>> by_sm;
    for (const auto& record : records) by_sm[record.sm].push_back(record);
    Timeline line;
    for (const auto& [sm, warps] : by_sm) {
        (void)sm;
        line.balanced = line.balanced && std::ssize(warps) == warps_per_sm;
        add_sm(line, progress_of(warps));
    }
    return line;
}

/// Whether the loop with the mix holds little else. Without machine code there is no compiler that leaves anything out.
bool moves_vanished(const CompiledKernel& kernel, const MixShape& shape) {
    constexpr int kOthers = 16;  // what a loop and a clock read take
    const auto& machine_code = kernel.module().machine_code();
    if (!machine_code) return false;
    const device::Cubin cubin(machine_code->cubin);
    if (!device::not_supported(cubin).empty()) return false;
    const auto code = device::decode(cubin, kernel.name());
    const auto fits = [&](device::CodeRange loop) { return static_cast<int>(loop.size()) >= shape.instructions() && static_cast<int>(loop.size()) <= shape.instructions() + kOthers; };
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
    : device_(device), shape_(shape), array_(array), kernel_(compile(device, shape_)),
      sms_(device.attribute(device::Attribute::multiprocessor_count).value_or(1)) {
    const auto most = device.attribute(device::Attribute::max_threads_per_multiprocessor).value_or(1024) / kWarp;
    records_ = device::Buffer(device, Bytes{sms_ * most * static_cast<std::int64_t>(sizeof(MixRecord))});
    gate_ = device::Buffer(device, Bytes{sizeof(std::uint32_t)});
    device.fill_u32(gate_.address(), 0, 1);
}

std::optional<MixThroughput::Blocks> MixThroughput::blocks_for(int warps) const {
    const auto most_blocks = device_.attribute(device::Attribute::max_blocks_per_multiprocessor).value_or(warps);
    const int most = std::max(1, kernel_.properties().max_threads_per_block / kWarp);
    for (int blocks = 1; blocks <= std::min<std::int64_t>(warps, most_blocks); ++blocks)
        if (warps % blocks == 0 && warps / blocks <= most) return Blocks{blocks, warps / blocks};
    return std::nullopt;
}

/// Turns of a warp that goes on as fast as one alone, and those that end behind a limit.
std::int64_t MixThroughput::turns_for(const Window& window) const {
    constexpr std::int64_t kBehind = 4;
    const std::int64_t wanted = shortest_turn_ > 0 ? static_cast<std::int64_t>((window.settle + window.cycles + window.after) / shortest_turn_) + kBehind : kBehind;
    return shape_.lines() == 0 ? wanted : std::min<std::int64_t>(wanted, kMostLines / shape_.chains / shape_.lines());
}

std::vector<MixRecord> MixThroughput::run(const Blocks& blocks, const Window& window) {
    constexpr std::int64_t kApart = 37;  // lines between neighbouring chains of a ring
    const std::int64_t grid = sms_ * blocks.per_sm, warps = grid * blocks.warps, chains = warps * shape_.chains;
    const std::int64_t turns = turns_for(window), lines = array_.is_ring() ? kApart : turns * shape_.lines();
    const std::int64_t first_line = shape_.reads_lines() ? array_.take(chains, lines) : 0;
    const bool bounded = shape_.reads_lines() && !array_.is_ring();
    device::Arguments arguments;
    arguments.add(array_.address()).add(static_cast<std::uint32_t>(first_line)).add(static_cast<std::uint32_t>(lines)).add(array_.mask()).add(array_.shift());
    arguments.add(bounded ? static_cast<std::uint32_t>(turns - 2) : ~std::uint32_t{0});  // two more are done where the first phase reaches it
    gate_goal_ += static_cast<std::uint32_t>(grid);
    arguments.add(whole(window.settle)).add(whole(window.cycles)).add(whole(window.after)).add(kMixZero).add(records_.address()).add(gate_.address()).add(gate_goal_);
    kernel_.launch({static_cast<std::uint32_t>(grid)}, {static_cast<std::uint32_t>(blocks.warps * kWarp)}, arguments, shared_for(device_, blocks.per_sm));
    auto records = records_.read<MixRecord>(static_cast<std::size_t>(warps));
    for (std::size_t warp = 0; warp < records.size(); ++warp) {
        if (!shape_.arithmetic_only && (shape_.access == MixAccess::shared || shape_.access == MixAccess::shared_conflict)) continue;  // addresses that the host does not know
        std::uint32_t expected = 0;
        for (int chain = 0; chain < shape_.chains; ++chain)
            expected += shape_.reads_lines() ? array_.after(first_line, static_cast<std::int64_t>(warp) * shape_.chains + chain, lines, std::int64_t{records[warp].end.turns} * shape_.lines()) : kMixOne;
        if (records[warp].pointers != expected)
            throw DeviceError(fmt::format("kernel {}: warp {} ended with values that sum to {:#x}; expected {:#x}", kernel_.name(), warp, records[warp].pointers, expected));
    }
    return records;
}

void MixThroughput::probe() { turn_ = shortest_turn_ = timeline_of(run({1, 1}, {1, 1, 1}), 1).shortest_turn; }

std::optional<MixSample> MixThroughput::sample(int warps) {
    const auto blocks = blocks_for(warps);
    if (!blocks) return std::nullopt;
    if (shortest_turn_ == 0) probe();
    double turns = std::max({kFirstTurns, shape_.lines() > 0 ? kFirstLines / shape_.lines() : 0, turns_ / kLonger});
    for (int attempt = 0; attempt < kTries; ++attempt, turns *= kLonger) {
        const Window window{skew_ + shortest_turn_, std::max(kLeastWindow, turns * turn_), kTurnsAfter * turn_};
        const bool longest = shape_.lines() > 0 && !array_.is_ring() && (turns_for(window) + 1) * shape_.lines() * shape_.chains > kMostLines;
        const Timeline line = timeline_of(run(*blocks, window), warps);
        if (!line.balanced || !line.resident) return std::nullopt;
        skew_ = std::max(skew_, line.skew);
        turn_ = static_cast<double>(sms_ * warps) / line.turns_per_cycle;
        shortest_turn_ = std::min(shortest_turn_, line.shortest_turn);
        if (longest && line.uncertain > kMostUncertain * line.turns) return std::nullopt;
        if (line.uncertain > kUncertain * line.turns && !longest) continue;
        turns_ = turns;
        const double per_sm = line.turns_per_cycle / static_cast<double>(sms_);
        return MixSample{.warps = warps, .instructions_per_cycle = per_sm * shape_.instructions(), .slowest = line.slowest * warps / per_sm};
    }
    return std::nullopt;
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
        if (const int rounded = static_cast<int>(std::lround(alpha)); alphas.empty() || alphas.back() != rounded) alphas.push_back(rounded);
    return alphas;
}

}  // namespace gputomo::experiments
