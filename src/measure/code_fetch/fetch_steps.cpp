#include "measure/code_fetch/fetch_steps.hpp"

#include "sass/machine_code.hpp"
#include "units/error.hpp"
#include "units/statistics.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Steps, each after a barrier. More steps meet more places of a fetch block.
constexpr int kSteps = 64;
/// Clock reads of a step. A warp may hold the first two or three instructions after the barrier before it waits
/// there.
constexpr int kReads = 4;
constexpr int kStepBytes = 4 * kReads;
constexpr int kPlaces = kSteps * (kReads - 1);
/// Schedulers get warps in turn, so with five warps the last one shares the first one's scheduler if an SM has one,
/// two or four of them. It then also shares an instruction cache that a scheduler may have of its own. The other warps
/// only take part in the barriers.
constexpr int kWarps = 5;
/// Launches whose median counts.
constexpr int kLaunches = 3;
/// Independent sums of a sweep, so that its instructions need not wait for each other.
constexpr int kSums = 4;
/// Sweeps and filling compute with numbers that the compiler does not know. It would merge repeated additions of a
/// known constant into one.
constexpr std::string_view kFilling = "fma.rn.f32", kFillingOpcode = "FFMA";
/// Compute capability from which on instructions take 16 bytes.
constexpr std::int64_t kLongSince = 7;

void append_steps(ptx::KernelBuilder& k, Reg record, const std::vector<Reg>& sums, int filling) {
    for (int step = 0; step < kSteps; ++step) {
        k("bar.sync", 0);
        // All readings are stored. If only a difference were used, ptxas would read one clock by a slower instruction,
        // away from the other.
        std::vector<Reg> reads;
        for (int i = 0; i < kReads; ++i) reads.push_back(k.clock32());
        k("st.volatile.shared.v4.u32", Mem{record, kStepBytes * step}, ptx::Vec(std::span<const Reg>(reads)));
        for (int i = 0; i < filling; ++i) k(kFilling, sums[0], sums[0], sums[1], sums[2]);
    }
}

/// Appends the same number of barriers, each after a run through the code that evicts.
void append_sweeps(ptx::KernelBuilder& k, Reg evicts, const std::vector<Reg>& sums, std::uint64_t instructions) {
    k.loop(kSteps, [&] {
        const ptx::Label rest = k.label();
        k.unless(evicts)("bra", rest);
        for (std::uint64_t i = 0; i < instructions; ++i)
            k(kFilling, sums[i % kSums], sums[i % kSums], sums[kSums], sums[kSums + 1]);
        k.place(rest);
        k("bar.sync", 0);
    });
}

std::vector<std::uint64_t> later_reads(const sass::KernelCode& code, std::uint64_t instruction_bytes) {
    std::vector<std::uint64_t> offsets;
    const auto instructions = code.instructions();
    for (std::size_t i = 1; i < instructions.size(); ++i)
        if (instructions[i].reads_clock() && instructions[i - 1].reads_clock())
            offsets.push_back(i * instruction_bytes);
    return offsets;
}

/// Offsets in the PTX as written, which a simulated GPU executes.
std::vector<std::uint64_t> later_reads(const ptx::Kernel& kernel, std::uint64_t instruction_bytes) {
    const auto reads_clock = [](const ptx::Instruction& instruction) {
        const auto* special = instruction.opcode == ptx::Opcode::mov
                                  ? std::get_if<SpecialRegister>(&instruction.sources.front().value)
                                  : nullptr;
        return special != nullptr && *special == SpecialRegister::clock;
    };
    std::vector<std::uint64_t> offsets;
    for (std::size_t i = 1; i < kernel.body.size(); ++i)
        if (reads_clock(kernel.body[i]) && reads_clock(kernel.body[i - 1])) offsets.push_back(i * instruction_bytes);
    return offsets;
}

}  // namespace

std::vector<std::uint64_t> offsets_of_later_reads(const CompiledKernel& kernel, const ptx::KernelBuilder& written,
                                                  std::uint64_t instruction_bytes) {
    if (const auto& code = kernel.module().machine_code())
        return later_reads(sass::kernel_code(sass::Cubin(code->cubin), kernel.name()), instruction_bytes);
    return later_reads(written.build().kernels.front(), instruction_bytes);
}

std::uint64_t bytes_of_instruction(const device::Device& device) {
    return device.attribute(device::Attribute::compute_capability_major).value_or(0) >= kLongSince ? 16 : 8;
}

ptx::KernelBuilder fetch_steps_kernel(ptx::Target target, const FetchSteps::Shape& shape,
                                      std::uint64_t instruction_bytes) {
    ptx::KernelBuilder k(fmt::format("fetch_steps_{}", shape.filling), target);
    const Reg results = k.param(Type::u64, "results");
    const Reg record = k.shared("record", Bytes{kStepBytes * kSteps});
    const Reg thread = k.special(SpecialRegister::tid_x);
    const Reg measures = k.reg(Type::pred), evicts = k.reg(Type::pred);
    const std::vector<Reg> sums = k.regs(Type::f32, kSums + 2);
    for (const Reg sum : sums) k("cvt.rn.f32.u32", sum, thread);
    k("setp.lt.u32", measures, thread, kWarpSize);
    k("setp.ge.u32", evicts, thread, kWarpSize * (kWarps - 1));
    k.if_(
        measures, [&] { append_steps(k, record, sums, shape.filling); },
        [&] { append_sweeps(k, evicts, sums, shape.sweep / instruction_bytes); });
    const ptx::Label leave = k.label();
    k.unless(measures)("bra", leave);
    k.loop(kReads * kSteps, [&](Reg reading) {
        const Reg from = k.reg(Type::u32), word = k.reg(Type::u32);
        k("mad.lo.u32", from, reading, 4, record);
        k("ld.volatile.shared.u32", word, Mem{from});
        k("st.global.u32", Mem{k.element(results, reading, Bytes{4})}, word);
    });
    k.place(leave);
    const Reg sink = k.element(results, thread, Bytes{4});
    for (const Reg sum : sums) k("add.f32", sums[0], sums[0], sum);
    k("st.global.f32", Mem{sink, kStepBytes * kSteps}, sums[0]);
    return k;
}

FetchSteps::FetchSteps(device::Device& device, Shape shape)
    : FetchSteps(device, shape, fetch_steps_kernel(target_of(device), shape, bytes_of_instruction(device))) {}

FetchSteps::FetchSteps(device::Device& device, Shape shape, const ptx::KernelBuilder& written)
    : kernel_(device, written,
              {ReadsBackToBack{kPlaces},
               LoopedCode{{kFillingOpcode}, static_cast<int>(shape.sweep / bytes_of_instruction(device))}}),
      results_(device, Bytes{kStepBytes * kSteps + 4 * kWarpSize * kWarps}),
      offsets_(offsets_of_later_reads(kernel_, written, bytes_of_instruction(device))),
      threads_(kWarpSize * kWarps) {}

std::vector<FetchStep> FetchSteps::run() {
    if (offsets_.size() != kPlaces) return {};
    device::Arguments arguments;
    arguments.add(results_.address());
    std::vector<std::vector<double>> samples(kPlaces);
    for (int launch = 0; launch < kLaunches; ++launch) {
        kernel_.launch({1}, {threads_}, arguments);
        const auto words = results_.read<std::uint32_t>(kReads * kSteps);
        for (std::size_t place = 0; place < kPlaces; ++place) {
            const std::size_t before = place / (kReads - 1) * kReads + place % (kReads - 1);
            samples[place].push_back(words[before + 1] - words[before]);
        }
    }
    std::vector<FetchStep> steps;
    for (std::size_t i = 0; i < kPlaces; ++i) steps.push_back({offsets_[i], median(samples[i])});
    return steps;
}

}  // namespace gputomo::measure
