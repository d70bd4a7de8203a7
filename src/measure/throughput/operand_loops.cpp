#include "measure/throughput/operand_loops.hpp"

#include "sass/machine_code.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <algorithm>
#include <limits>
#include <random>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

/// Registers are loaded and stored in fours. So the compiler must give them successive numbers from a multiple of four
/// on, and the numbers that each instruction reads, modulo four, are as written. Left to itself, ptxas chooses numbers
/// with which no operands wait for each other.
constexpr int kQuad = 4, kQuads = 12, kRegisters = kQuad * kQuads;
/// Instructions of a loop body. The loop must fit an instruction cache.
constexpr int kInstructions = 24;
/// Eight warps for each of four schedulers, if the registers allow them.
constexpr std::uint32_t kMostThreads = 1024;
constexpr std::uint32_t kWarp = kWarpSize;
/// Two clock reads of each warp for a loop.
constexpr std::int64_t kStampBytes = 8 * kMostThreads / kWarp;
/// Iterations of the two runs whose difference counts.
constexpr std::uint32_t kFewIterations = 4, kManyIterations = 12;
/// Launches of which the fastest counts.
constexpr int kLaunches = 3;
constexpr std::string_view kOpcode = "FFMA";

int register_in(int quad, int lane) { return quad % kQuads * kQuad + lane % kQuad; }

/// Instructions whose operands have the same distances from each other, in all four lanes. If one instruction finds
/// its operands in some banks, another finds them in the next banks.
OperandLoopChoice at_equal_distances(const OperandChoice& quads, const OperandChoice& lanes) {
    OperandLoopChoice loop{};
    for (int i = 0; i < kQuad; ++i)
        for (std::size_t o = 0; o < 3; ++o) loop[static_cast<std::size_t>(i)][o] = register_in(quads[o], lanes[o] + i);
    return loop;
}

/// Instructions whose operands are in these lanes of randomly chosen quads. All four instructions read the same banks
/// if there are at most four banks.
OperandLoopChoice in_lanes(const OperandChoice& lanes, std::mt19937& dice) {
    std::vector<int> quads(kQuads);
    for (int i = 0; i < kQuads; ++i) quads[static_cast<std::size_t>(i)] = i;
    for (std::size_t i = quads.size() - 1; i > 0; --i) std::swap(quads[i], quads[dice() % (i + 1)]);
    OperandLoopChoice loop{};
    for (std::size_t i = 0; i < loop.size(); ++i)
        for (std::size_t o = 0; o < 3; ++o) loop[i][o] = register_in(quads[3 * i + o], lanes[o]);
    return loop;
}

/// All loops: one register for all operands, twice, because the first loop also waits for all registers to be loaded.
/// Two loops of each distance modulo 16, three of each distance modulo four, three in each set of lanes. Further loops
/// have an operand in common, which a compiler may mark to be kept in its operand cache.
std::vector<OperandLoopChoice> all_choices() {
    std::mt19937 dice(1);
    std::vector<OperandLoopChoice> choices(2, at_equal_distances({0, 0, 0}, {0, 0, 0}));
    for (int quad = 1; quad <= kQuad; ++quad)
        for (int lane = 0; lane < kQuad; ++lane)
            choices.push_back(at_equal_distances({quad, quad, 0}, {lane, lane, 0}));
    for (int first = 0; first < kQuad; ++first)
        for (int second = 0; second < kQuad; ++second) {
            const auto quad = static_cast<int>(dice() % kQuads);
            const auto next = quad + 1 + static_cast<int>(dice() % (kQuads / 2)),
                       last = next + 1 + static_cast<int>(dice() % (kQuads / 2 - 1));
            choices.push_back(at_equal_distances({next, last, quad}, {first, second, 0}));
        }
    for (int first = 0; first < kQuad; ++first)
        for (int second = first; second < kQuad; ++second)
            for (int third = second; third < kQuad; ++third) choices.push_back(in_lanes({first, second, third}, dice));
    for (int lane = 0; lane < kQuad; ++lane) {
        auto loop = in_lanes({lane, lane, lane}, dice);
        for (auto& operands : loop) operands.front() = loop.front().front();
        choices.push_back(loop);
    }
    return choices;
}

/// Cycles from the first begin to the last end of a loop, because a scheduler that prefers one warp lets others begin
/// when that is done. `stamps`: begin and end of each warp.
double first_to_last(std::span<const std::uint32_t> stamps) {
    std::int32_t first = 0, last = 0;
    for (std::size_t i = 0; i < stamps.size(); i += 2) {
        first = std::min(first, static_cast<std::int32_t>(stamps[i] - stamps[0]));
        last = std::max(last, static_cast<std::int32_t>(stamps[i + 1] - stamps[0]));
    }
    return static_cast<double>(last) - first;
}

struct LoopCode {
    std::vector<deduce::InstructionReads> reads;
    std::size_t others = 0;  ///< instructions that are not multiply-adds
};

std::vector<LoopCode> loops_in(const sass::KernelCode& code) {
    std::vector<LoopCode> loops;
    for (const auto& range : code.loops()) {
        LoopCode loop;
        for (const auto& instruction : code.instructions().subspan(range.first, range.size())) {
            if (!instruction.is(kOpcode)) continue;
            auto& reads = loop.reads.emplace_back();
            for (const auto& operand : instruction.three_operands())
                reads.push_back({operand.slot, operand.number, operand.reuse});
        }
        loop.others = range.size() - loop.reads.size();
        if (loop.reads.size() == kInstructions) loops.push_back(std::move(loop));
    }
    return loops;
}

/// Without a compiler the PTX itself is executed, and its registers are the device's.
std::vector<LoopCode> loops_of(const std::vector<OperandLoopChoice>& choices) {
    std::vector<LoopCode> loops(choices.size());
    for (std::size_t i = 0; i < choices.size(); ++i)
        for (const auto& operands : choices[i]) {
            auto& reads = loops[i].reads.emplace_back();
            for (int slot = 0; slot < 3; ++slot)
                reads.push_back({slot, static_cast<std::uint8_t>(operands[static_cast<std::size_t>(slot)])});
        }
    return loops;
}

}  // namespace

ptx::KernelBuilder operand_loops_kernel(ptx::Target target) {
    ptx::KernelBuilder k("operand_loops", target);
    const std::vector<Reg> values = k.regs(Type::f32, kRegisters);
    const Reg results = k.param(Type::u64, "results");
    const Reg iterations = k.param(Type::u32, "iterations");
    const Reg thread = k.special(ptx::SpecialRegister::tid_x);
    const Reg first = k.reg(Type::pred), lane = k.reg(Type::u32), warp = k.reg(Type::u32);
    const Reg mine = k.element(results, thread, Bytes{4 * kRegisters});
    const auto choices = all_choices();
    const std::int64_t records = kStampBytes * std::ssize(choices);
    const auto quad = [&](int i) {
        return ptx::Vec(std::span<const Reg>(values).subspan(static_cast<std::size_t>(kQuad * i), kQuad));
    };
    k("and.b32", lane, thread, kWarp - 1);
    k("setp.eq.u32", first, lane, 0);
    k("shr.u32", warp, thread, 5);
    const Reg stamps = k.element(results, warp, Bytes{8});
    for (int i = 0; i < kQuads; ++i) k("ld.volatile.global.v4.f32", quad(i), Mem{mine, records + 4 * kQuad * i});
    for (std::size_t c = 0; c < choices.size(); ++c) {
        k("bar.sync", 0);
        const auto stamp = [&](std::int64_t which) {
            k.when(first)("st.volatile.global.u32", Mem{stamps, kStampBytes * static_cast<std::int64_t>(c) + which},
                          k.clock32());
        };
        // stored before the loop: with one more live register ptxas takes eight more and renames what the loop writes
        stamp(0);
        k.loop(iterations, [&] {
            k.repeat(kInstructions, [&](int i) {
                const auto& [a, b, sum] = choices[c][static_cast<std::size_t>(i) % choices[c].size()];
                const auto value = [&](int which) { return values[static_cast<std::size_t>(which)]; };
                k("fma.rn.f32", value(sum), value(a), value(b), value(sum));
            });
        });
        k("bar.sync", 0);
        stamp(4);
    }
    for (int i = 0; i < kQuads; ++i) k("st.volatile.global.v4.f32", Mem{mine, records + 4 * kQuad * i}, quad(i));
    return k;
}

OperandLoops::OperandLoops(device::Device& device)
    : choices_(all_choices()),
      kernel_(device, operand_loops_kernel(target_of(device))),
      results_(device, Bytes{kStampBytes * std::ssize(choices_) + 4 * kRegisters * kMostThreads}),
      threads_(std::min<std::uint32_t>(
          kMostThreads, static_cast<std::uint32_t>(kernel_.properties().max_threads_per_block) / kWarp * kWarp)) {}

std::vector<double> OperandLoops::cycles_of(std::uint32_t iterations) {
    device::Arguments arguments;
    arguments.add(results_.address()).add(iterations);
    std::vector<double> fastest(choices_.size(), std::numeric_limits<double>::max());
    for (int launch = 0; launch < kLaunches; ++launch) {
        kernel_.launch({1}, {threads_}, arguments);
        const auto words = results_.read<std::uint32_t>(choices_.size() * kStampBytes / 4);
        for (std::size_t i = 0; i < choices_.size(); ++i) {
            const auto stamps = std::span(words).subspan(i * kStampBytes / 4, 2 * threads_ / kWarp);
            fastest[i] = std::min(fastest[i], first_to_last(stamps));
        }
    }
    return fastest;
}

std::vector<deduce::OperandLoop> OperandLoops::run() {
    const auto& code = kernel_.module().machine_code();
    auto loops = code ? loops_in(sass::kernel_code(sass::Cubin(code->cubin), kernel_.name())) : loops_of(choices_);
    if (loops.size() != choices_.size()) return {};
    const std::size_t others = std::ranges::min(loops, {}, &LoopCode::others).others;
    const auto few = cycles_of(kFewIterations), many = cycles_of(kManyIterations);
    const double instructions =
        static_cast<double>(kInstructions * (kManyIterations - kFewIterations) * threads_) / kWarp;
    std::vector<deduce::OperandLoop> timed;
    for (std::size_t i = 1; i < loops.size(); ++i)
        if (loops[i].others == others) timed.push_back({std::move(loops[i].reads), (many[i] - few[i]) / instructions});
    return timed;
}

}  // namespace gputomo::measure
