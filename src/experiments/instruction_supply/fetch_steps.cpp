#include "experiments/instruction_supply/fetch_steps.hpp"

#include "deduce/statistics.hpp"
#include "device/machine_code.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

namespace gputomo::experiments {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

constexpr int kSteps = 96;
constexpr int kStepBytes = 8;  ///< both readings
constexpr int kWarp = 32;
/// Of five warps, which schedulers get in turn, the last one shares the first one's scheduler where an SM has one, two or four of them, and with it the cache
/// that a scheduler may have of its own. The others only come to the barriers.
constexpr int kWarps = 5;
constexpr int kLaunches = 3;
constexpr int kSums = 4;
constexpr std::int64_t kLongSince = 7;

void append_steps(ptx::KernelBuilder& k, Reg record, Reg filled, int filling) {
    for (int step = 0; step < kSteps; ++step) {
        k("bar.sync", 0);
        // Both are stored: of a difference, ptxas reads one by a slower instruction, apart from the other.
        const Reg first = k.clock32(), second = k.clock32();
        k("st.volatile.shared.v2.u32", Mem{record, kStepBytes * step}, ptx::Vec{first, second});
        for (int i = 0; i < filling; ++i) k("add.u32", filled, filled, 0x1235 + step);
    }
}

/// As many barriers, each behind a run through the code that evicts.
void append_sweeps(ptx::KernelBuilder& k, Reg evicts, const std::vector<Reg>& sums, std::uint64_t instructions) {
    k.loop(kSteps, [&] {
        const ptx::Label rest = k.label();
        k.unless(evicts)("bra", rest);
        for (std::uint64_t i = 0; i < instructions; ++i) k("add.u32", sums[i % kSums], sums[i % kSums], 0x10000001U + i % 2 * 0x10003U);
        k.place(rest);
        k("bar.sync", 0);
    });
}

std::vector<std::uint64_t> offsets_of_seconds(const device::KernelCode& code, std::uint64_t instruction_bytes) {
    std::vector<std::uint64_t> offsets;
    const auto instructions = code.instructions();
    for (std::size_t i = 1; i < instructions.size(); ++i)
        if (instructions[i].reads_clock() && instructions[i - 1].reads_clock()) offsets.push_back(i * instruction_bytes);
    return offsets;
}

/// As written: what a simulated GPU executes.
std::vector<std::uint64_t> offsets_of_seconds(const ptx::Kernel& kernel, std::uint64_t instruction_bytes) {
    const auto reads_clock = [](const ptx::Instruction& instruction) {
        const auto* special = instruction.opcode == ptx::Opcode::mov ? std::get_if<SpecialRegister>(&instruction.sources.front().value) : nullptr;
        return special != nullptr && *special == SpecialRegister::clock;
    };
    std::vector<std::uint64_t> offsets;
    for (std::size_t i = 1; i < kernel.body.size(); ++i)
        if (reads_clock(kernel.body[i]) && reads_clock(kernel.body[i - 1])) offsets.push_back(i * instruction_bytes);
    return offsets;
}

}  // namespace

std::uint64_t bytes_of_instruction(const device::Device& device) {
    return device.attribute(device::Attribute::compute_capability_major).value_or(0) >= kLongSince ? 16 : 8;
}

ptx::KernelBuilder fetch_steps_kernel(ptx::Target target, const FetchSteps::Shape& shape, std::uint64_t instruction_bytes) {
    ptx::KernelBuilder k(fmt::format("fetch_steps_{}", shape.filling), target);
    const Reg results = k.param(Type::u64, "results");
    const Reg record = k.shared("record", Bytes{kStepBytes * kSteps});
    const Reg thread = k.special(SpecialRegister::tid_x);
    const Reg measures = k.reg(Type::pred), evicts = k.reg(Type::pred), filled = k.reg(Type::u32);
    const std::vector<Reg> sums = k.regs(Type::u32, kSums);
    for (const Reg sum : sums) k("mov.u32", sum, thread);
    k("mov.u32", filled, thread);
    k("setp.lt.u32", measures, thread, kWarp);
    k("setp.ge.u32", evicts, thread, kWarp * (kWarps - 1));
    k.if_(
        measures, [&] { append_steps(k, record, filled, shape.filling); }, [&] { append_sweeps(k, evicts, sums, shape.sweep / instruction_bytes); });
    const ptx::Label leave = k.label();
    k.unless(measures)("bra", leave);
    k.loop(2 * kSteps, [&](Reg reading) {
        const Reg from = k.reg(Type::u32), word = k.reg(Type::u32);
        k("mad.lo.u32", from, reading, 4, record);
        k("ld.volatile.shared.u32", word, Mem{from});
        k("st.global.u32", Mem{k.element(results, reading, Bytes{4})}, word);
    });
    k.place(leave);
    const Reg sink = k.element(results, thread, Bytes{4});
    for (const Reg sum : sums) k("add.u32", filled, filled, sum);
    k("st.global.u32", Mem{sink, kStepBytes * kSteps}, filled);
    return k;
}

FetchSteps::FetchSteps(device::Device& device, Shape shape)
    : kernel_(device, fetch_steps_kernel(target_of(device), shape, bytes_of_instruction(device)), {ReadsBackToBack{kSteps}}),
      results_(device, Bytes{kStepBytes * kSteps + 4 * kWarp * kWarps}),
      threads_(kWarp * kWarps) {
    const auto bytes = bytes_of_instruction(device);
    if (const auto& code = kernel_.module().machine_code())
        offsets_ = offsets_of_seconds(device::decode(device::Cubin(code->cubin), kernel_.name()), bytes);
    else
        offsets_ = offsets_of_seconds(fetch_steps_kernel(target_of(device), shape, bytes).build().kernels.front(), bytes);
}

std::vector<FetchStep> FetchSteps::run() {
    if (offsets_.size() != kSteps) return {};
    device::Arguments arguments;
    arguments.add(results_.address());
    std::vector<std::vector<double>> samples(kSteps);
    for (int launch = 0; launch < kLaunches; ++launch) {
        kernel_.launch({1}, {threads_}, arguments);
        const auto words = results_.read<std::uint32_t>(2 * kSteps);
        for (std::size_t i = 0; i < kSteps; ++i) samples[i].push_back(words[2 * i + 1] - words[2 * i]);
    }
    std::vector<FetchStep> steps;
    for (std::size_t i = 0; i < kSteps; ++i) steps.push_back({offsets_[i], deduce::median(samples[i])});
    return steps;
}

}  // namespace gputomo::experiments
