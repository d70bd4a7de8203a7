#include "experiments/registers/operand_loops.hpp"

#include "device/machine_code.hpp"
#include "units/error.hpp"

#include <algorithm>
#include <optional>
#include <random>

namespace gputomo::experiments {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

/// Registers are loaded and stored by four: a compiler has to give them numbers that follow each other from a multiple of four on, and what each instruction
/// reads modulo four is as written. Left to itself, ptxas chooses numbers such that no operands wait for each other.
constexpr int kQuad = 4, kQuads = 12, kRegisters = kQuad * kQuads;
constexpr int kInstructions = 24;
/// Eight warps for each of four schedulers, where so many registers allow them.
constexpr std::uint32_t kMostThreads = 1024;
constexpr std::uint32_t kFewTurns = 4, kManyTurns = 12;
constexpr int kLaunches = 3;
constexpr std::string_view kOpcode = "FFMA";

int register_in(int quad, int lane) { return quad % kQuads * kQuad + lane % kQuad; }

/// Instructions whose operands have the same distances from each other, in all four lanes: in whichever bank one finds its operands, another finds them in the
/// next one.
OperandLoopChoice in_turn(const OperandChoice& quads, const OperandChoice& lanes) {
    OperandLoopChoice loop{};
    for (int i = 0; i < kQuad; ++i)
        for (std::size_t o = 0; o < 3; ++o) loop[static_cast<std::size_t>(i)][o] = register_in(quads[o], lanes[o] + i);
    return loop;
}

/// Instructions whose operands are in these lanes of quads that the dice choose: all four read the same banks, if there are no more than four.
OperandLoopChoice in_lanes(const OperandChoice& lanes, std::mt19937& dice) {
    std::vector<int> quads(kQuads);
    for (int i = 0; i < kQuads; ++i) quads[static_cast<std::size_t>(i)] = i;
    for (std::size_t i = quads.size() - 1; i > 0; --i) std::swap(quads[i], quads[dice() % (i + 1)]);
    OperandLoopChoice loop{};
    for (std::size_t i = 0; i < loop.size(); ++i)
        for (std::size_t o = 0; o < 3; ++o) loop[i][o] = register_in(quads[3 * i + o], lanes[o]);
    return loop;
}

/// One register, two of each distance modulo 16, three of each distance modulo four, three in each set of lanes, and such that have one in common, which a
/// compiler may mark to be kept.
std::vector<OperandLoopChoice> all_choices() {
    std::mt19937 dice(1);
    std::vector<OperandLoopChoice> choices{in_turn({0, 0, 0}, {0, 0, 0})};
    for (int quad = 1; quad <= kQuad; ++quad)
        for (int lane = 0; lane < kQuad; ++lane) choices.push_back(in_turn({quad, quad, 0}, {lane, lane, 0}));
    for (int first = 0; first < kQuad; ++first)
        for (int second = 0; second < kQuad; ++second) {
            const auto quad = static_cast<int>(dice() % kQuads);
            const auto next = quad + 1 + static_cast<int>(dice() % (kQuads / 2)), last = next + 1 + static_cast<int>(dice() % (kQuads / 2 - 1));
            choices.push_back(in_turn({next, last, quad}, {first, second, 0}));
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

struct LoopCode {
    std::vector<deduce::InstructionReads> reads;
    std::size_t others = 0;  ///< instructions that are not multiply-adds
};

std::vector<LoopCode> loops_in(const device::KernelCode& code) {
    std::vector<LoopCode> loops;
    for (const auto& range : code.loops()) {
        LoopCode loop;
        for (const auto& instruction : code.instructions().subspan(range.first, range.size())) {
            if (!instruction.is(kOpcode)) continue;
            auto& reads = loop.reads.emplace_back();
            for (const auto& operand : instruction.three_operands()) reads.push_back({operand.slot, operand.number, operand.reuse});
        }
        loop.others = range.size() - loop.reads.size();
        if (loop.reads.size() == kInstructions) loops.push_back(std::move(loop));
    }
    return loops;
}

/// PTX itself is executed: its registers are the device's.
std::vector<LoopCode> loops_of(const std::vector<OperandLoopChoice>& choices) {
    std::vector<LoopCode> loops(choices.size());
    for (std::size_t i = 0; i < choices.size(); ++i)
        for (const auto& operands : choices[i]) {
            auto& reads = loops[i].reads.emplace_back();
            for (int slot = 0; slot < 3; ++slot) reads.push_back({slot, static_cast<std::uint8_t>(operands[static_cast<std::size_t>(slot)])});
        }
    return loops;
}

}  // namespace

ptx::KernelBuilder operand_loops_kernel(ptx::Target target) {
    ptx::KernelBuilder k("operand_loops", target);
    const std::vector<Reg> values = k.regs(Type::f32, kRegisters);
    const Reg results = k.param(Type::u64, "results");
    const Reg turns = k.param(Type::u32, "turns");
    const Reg thread = k.special(ptx::SpecialRegister::tid_x);
    const Reg first = k.reg(Type::pred), spent = k.reg(Type::u32);
    const Reg mine = k.element(results, thread, Bytes{4 * kRegisters});
    const auto choices = all_choices();
    const auto records = static_cast<std::int64_t>(4 * choices.size() + 15) / 16 * 16;
    const auto quad = [&](int i) { return ptx::Vec(std::span<const Reg>(values).subspan(static_cast<std::size_t>(kQuad * i), kQuad)); };
    k("setp.eq.u32", first, thread, 0);
    for (int i = 0; i < kQuads; ++i) k("ld.volatile.global.v4.f32", quad(i), Mem{mine, records + 4 * kQuad * i});
    for (std::size_t c = 0; c < choices.size(); ++c) {
        k("bar.sync", 0);
        const Reg begin = k.clock32();
        k.loop(turns, [&] {
            k.repeat(kInstructions, [&](int i) {
                const auto& [a, b, sum] = choices[c][static_cast<std::size_t>(i) % choices[c].size()];
                const auto value = [&](int which) { return values[static_cast<std::size_t>(which)]; };
                k("fma.rn.f32", value(sum), value(a), value(b), value(sum));
            });
        });
        k("bar.sync", 0);
        const Reg end = k.clock32();
        k("sub.u32", spent, end, begin);
        k.when(first)("st.volatile.global.u32", Mem{results, static_cast<std::int64_t>(4 * c)}, spent);
    }
    for (int i = 0; i < kQuads; ++i) k("st.volatile.global.v4.f32", Mem{mine, records + 4 * kQuad * i}, quad(i));
    return k;
}

OperandLoops::OperandLoops(device::Device& device)
    : choices_(all_choices()),
      kernel_(device, operand_loops_kernel(target_of(device))),
      results_(device, Bytes{static_cast<std::int64_t>(4 * choices_.size() + 16 + 4 * kRegisters * kMostThreads)}),
      threads_(std::min<std::uint32_t>(kMostThreads, static_cast<std::uint32_t>(kernel_.properties().max_threads_per_block) / 32 * 32)) {}

std::vector<double> OperandLoops::cycles_of(std::uint32_t turns) {
    device::Arguments arguments;
    arguments.add(results_.address()).add(turns);
    std::vector<double> fastest;
    for (int launch = 0; launch < kLaunches; ++launch) {
        kernel_.launch({1}, {threads_}, arguments);
        const auto words = results_.read<std::uint32_t>(choices_.size());
        if (fastest.empty()) fastest.assign(words.begin(), words.end());
        for (std::size_t i = 0; i < words.size(); ++i) fastest[i] = std::min(fastest[i], static_cast<double>(words[i]));
    }
    return fastest;
}

std::vector<deduce::OperandLoop> OperandLoops::run() {
    const auto& code = kernel_.module().machine_code();
    auto loops = code ? loops_in(device::decode(device::Cubin(code->cubin), kernel_.name())) : loops_of(choices_);
    if (loops.size() != choices_.size()) return {};
    const std::size_t others = std::ranges::min(loops, {}, &LoopCode::others).others;
    const auto few = cycles_of(kFewTurns), many = cycles_of(kManyTurns);
    const double instructions = kInstructions * (kManyTurns - kFewTurns) * threads_ / 32.0;
    std::vector<deduce::OperandLoop> timed;
    for (std::size_t i = 0; i < loops.size(); ++i)
        if (loops[i].others == others) timed.push_back({std::move(loops[i].reads), (many[i] - few[i]) / instructions});
    return timed;
}

}  // namespace gputomo::experiments
