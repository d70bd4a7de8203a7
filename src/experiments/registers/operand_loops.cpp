#include "experiments/registers/operand_loops.hpp"

#include "device/machine_code.hpp"
#include "units/error.hpp"

#include <algorithm>

namespace gputomo::experiments {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

constexpr int kRegisters = 12;
/// Instructions of a turn: of three operands each is the destination equally often.
constexpr int kInstructions = 18;
/// Eight warps for each of four schedulers: the instructions of a loop depend on each other.
constexpr std::uint32_t kMostThreads = 1024;
constexpr std::uint32_t kFewTurns = 4, kManyTurns = 12;
constexpr int kLaunches = 3;
/// A loop's code may hold a few more than were written.
constexpr std::string_view kOpcode = "FFMA";

std::vector<OperandChoice> all_choices() {
    std::vector<OperandChoice> choices;
    for (int second = 1; second < kRegisters; ++second) {
        choices.push_back({0, second});
        for (int third = second + 1; third < kRegisters; ++third) choices.push_back({0, second, third});
    }
    return choices;
}

/// The registers of each section of code between clock reads that loops hold most of.
std::vector<std::vector<std::vector<std::uint8_t>>> operands_in(const device::KernelCode& code) {
    std::vector<std::vector<std::vector<std::uint8_t>>> sections;
    for (const auto& range : code.between_clock_reads()) {
        std::vector<std::vector<std::uint8_t>> operands;
        for (const auto& instruction : code.instructions().subspan(range.first, range.size()))
            if (instruction.is(kOpcode)) operands.push_back(instruction.three_operands());
        if (operands.size() >= kInstructions) sections.push_back(std::move(operands));
    }
    return sections;
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
    const auto records = static_cast<std::int64_t>(4 * choices.size());
    k("setp.eq.u32", first, thread, 0);
    for (int i = 0; i < kRegisters; ++i) k("ld.volatile.global.f32", values[static_cast<std::size_t>(i)], Mem{mine, records + 4 * i});
    for (std::size_t c = 0; c < choices.size(); ++c) {
        const auto at = [&](std::size_t i) { return values[static_cast<std::size_t>(choices[c][i % choices[c].size()])]; };
        k("bar.sync", 0);
        const Reg begin = k.clock32();
        k.loop(turns, [&] { k.repeat(kInstructions, [&](int i) { k("fma.rn.f32", at(static_cast<std::size_t>(i)), at(0), at(1), at(2)); }); });
        k("bar.sync", 0);
        const Reg end = k.clock32();
        k("sub.u32", spent, end, begin);
        k.when(first)("st.volatile.global.u32", Mem{results, static_cast<std::int64_t>(4 * c)}, spent);
    }
    for (int i = 0; i < kRegisters; ++i) k("st.volatile.global.f32", Mem{mine, records + 4 * i}, values[static_cast<std::size_t>(i)]);
    return k;
}

OperandLoops::OperandLoops(device::Device& device)
    : choices_(all_choices()),
      kernel_(device, operand_loops_kernel(target_of(device))),
      results_(device, Bytes{static_cast<std::int64_t>(4 * choices_.size() + 4 * kRegisters * kMostThreads)}),
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
    std::vector<deduce::OperandLoop> loops(choices_.size());
    if (const auto& code = kernel_.module().machine_code()) {
        const auto sections = operands_in(device::decode(device::Cubin(code->cubin), kernel_.name()));
        if (sections.size() != loops.size()) return {};
        for (std::size_t i = 0; i < loops.size(); ++i) loops[i].operands = sections[i];
    } else {
        // PTX itself is executed: its registers are the device's.
        for (std::size_t i = 0; i < loops.size(); ++i) loops[i].operands = {{choices_[i].begin(), choices_[i].end()}};
    }
    const auto few = cycles_of(kFewTurns), many = cycles_of(kManyTurns);
    const double warps = threads_ / 32.0;
    for (std::size_t i = 0; i < loops.size(); ++i) loops[i].cycles = (many[i] - few[i]) / (kInstructions * (kManyTurns - kFewTurns) * warps);
    return loops;
}

}  // namespace gputomo::experiments
