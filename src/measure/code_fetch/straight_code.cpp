#include "measure/code_fetch/straight_code.hpp"

#include "measure/code_fetch/fetch_steps.hpp"
#include "measure/kernel/device_facts.hpp"
#include "sass/machine_code.hpp"
#include "units/statistics.hpp"
#include "units/warp.hpp"

#include <algorithm>
#include <variant>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Bytes of the code, twice what a launch of an H200 fetches in advance. With less, no code would be left to fetch.
constexpr std::uint64_t kStraightBytes = 128 * 1024;
/// Instructions between two clock reads. More of them hide where a fetch begins; fewer make the reads a larger part.
constexpr std::uint64_t kBetweenReads = 14;
/// A clock read, the store of its result, and the filling.
constexpr std::uint64_t kInstructionsBetween = kBetweenReads + 2;
/// Bytes of the other code: twice the largest cache of instructions known so far, that of 16 SMs of an H200.
constexpr std::uint64_t kEvictingBytes = 288 * 1024;
/// Independent sums, so that instructions do not wait for each other.
constexpr std::size_t kStraightSums = 7;
/// Launches whose median counts.
constexpr int kStraightLaunches = 3;
/// The buffer that evicts the L2 is this many times as large as it.
constexpr std::uint64_t kTimesL2 = 2;
/// Warps of a block, and bytes of each thread's loads, of the pass through that buffer.
constexpr std::uint32_t kSweepWarps = 8, kSweepBytes = 16;
constexpr std::string_view kStraightOperation = "fma.rn.f32", kStraightOpcode = "FFMA";

std::uint32_t straight_steps(const device::Device& device) {
    return static_cast<std::uint32_t>(kStraightBytes / bytes_of_instruction(device) / kInstructionsBetween);
}

/// Different sums that the compiler cannot compute in advance, because they start with the thread's number.
std::vector<Reg> straight_sums(ptx::KernelBuilder& k) {
    const std::vector<Reg> sums = k.regs(Type::f32, kStraightSums + 1);
    const Reg start = k.reg(Type::u32);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        k("add.u32", start, k.special(SpecialRegister::tid_x), i + 1);
        k("cvt.rn.f32.u32", sums[i], start);
    }
    return sums;
}

void append_sums(ptx::KernelBuilder& k, const std::vector<Reg>& sums, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        const Reg sum = sums[i % kStraightSums];
        k(kStraightOperation, sum, sum, sums[kStraightSums], sum);
    }
}

void store_sums(ptx::KernelBuilder& k, const std::vector<Reg>& sums, Reg to) {
    for (std::size_t i = 1; i < sums.size(); ++i) k("add.f32", sums[0], sums[0], sums[i]);
    k("st.global.f32", Mem{k.element(to, k.special(SpecialRegister::tid_x), Bytes{4})}, sums[0]);
}

ptx::KernelBuilder straight_kernel(const device::Device& device) {
    const std::uint32_t steps = straight_steps(device);
    ptx::KernelBuilder k("straight_code", target_of(device));
    const Reg results = k.param(Type::u64, "results");
    const Reg record = k.shared("record", Bytes{4 * static_cast<std::int64_t>(steps)});
    const std::vector<Reg> sums = straight_sums(k);
    for (std::uint32_t step = 0; step < steps; ++step) {
        k("st.volatile.shared.u32", Mem{record, 4 * static_cast<std::int64_t>(step)}, k.clock32());
        append_sums(k, sums, kBetweenReads);
    }
    k.loop(steps, [&](Reg reading) {
        const Reg from = k.reg(Type::u32), word = k.reg(Type::u32);
        k("mad.lo.u32", from, reading, 4, record);
        k("ld.volatile.shared.u32", word, Mem{from});
        k("st.global.u32", Mem{k.element(results, reading, Bytes{4})}, word);
    });
    const Reg behind = k.reg(Type::u64);
    k("add.u64", behind, results, 4 * static_cast<std::int64_t>(steps));
    store_sums(k, sums, behind);
    return k;
}

ptx::KernelBuilder other_kernel(const device::Device& device) {
    ptx::KernelBuilder k("other_code", target_of(device));
    const Reg results = k.param(Type::u64, "results"), passes = k.param(Type::u32, "passes");
    const std::vector<Reg> sums = straight_sums(k);
    k.loop(passes, [&] { append_sums(k, sums, kEvictingBytes / bytes_of_instruction(device)); });
    store_sums(k, sums, results);
    return k;
}

/// Each block loads its part of the buffer.
ptx::KernelBuilder sweep_kernel(const device::Device& device) {
    ptx::KernelBuilder k("sweep", target_of(device));
    const Reg results = k.param(Type::u64, "results"), buffer = k.param(Type::u64, "buffer"),
              steps = k.param(Type::u32, "steps");
    const Reg first = k.reg(Type::u32), at = k.reg(Type::u64), sum = k.reg(Type::u32);
    const std::vector<Reg> words = k.regs(Type::u32, kSweepBytes / 4);
    k("mul.lo.u32", first, k.special(SpecialRegister::ctaid_x), steps);
    k("mad.lo.u32", first, first, kSweepWarps * kWarpSize, k.special(SpecialRegister::tid_x));
    k("mad.wide.u32", at, first, kSweepBytes, buffer);
    k("mov.u32", sum, 0);
    k.loop(steps, [&] {
        k("ld.global.v4.u32", ptx::Vec(std::span<const Reg>(words)), Mem{at});
        for (const Reg word : words) k("xor.b32", sum, sum, word);
        k("add.u64", at, at, kSweepBytes * kSweepWarps * kWarpSize);
    });
    k("st.global.u32", Mem{k.element(results, k.special(SpecialRegister::tid_x), Bytes{4})}, sum);
    return k;
}

std::vector<std::uint64_t> clock_reads(const CompiledKernel& kernel, const ptx::KernelBuilder& written,
                                       std::uint64_t instruction_bytes) {
    std::vector<std::uint64_t> places;
    if (const auto& code = kernel.module().machine_code()) {
        const auto decoded = sass::kernel_code(sass::Cubin(code->cubin), kernel.name());
        const auto instructions = decoded.instructions();
        for (std::size_t i = 0; i < instructions.size(); ++i)
            if (instructions[i].reads_clock()) places.push_back(i * instruction_bytes);
        return places;
    }
    const auto body = written.build().kernels.front().body;
    for (std::size_t i = 0; i < body.size(); ++i) {
        const auto* special =
            body[i].opcode == ptx::Opcode::mov ? std::get_if<SpecialRegister>(&body[i].sources.front().value) : nullptr;
        if (special != nullptr && *special == SpecialRegister::clock) places.push_back(i * instruction_bytes);
    }
    return places;
}

}  // namespace

StraightCode::StraightCode(const Run& run) : StraightCode(run, straight_kernel(run.device)) {}

StraightCode::StraightCode(const Run& run, const ptx::KernelBuilder& written)
    : run_(run),
      kernel_(run.device, written),
      other_(run.device, other_kernel(run.device),
             {LoopedCode{{kStraightOpcode}, static_cast<int>(kEvictingBytes / bytes_of_instruction(run.device))}}),
      sweep_(run.device, sweep_kernel(run.device)),
      results_(run.device,
               Bytes{4 * (static_cast<std::int64_t>(straight_steps(run.device)) + kSweepWarps * kWarpSize)}),
      buffer_bytes_(kTimesL2 *
                    static_cast<std::uint64_t>(run.device.attribute(device::Attribute::l2_cache_bytes).value_or(0))),
      reads_(clock_reads(kernel_, written, bytes_of_instruction(run.device))) {}

void StraightCode::evict_code() {
    device::Arguments arguments;
    arguments.add(results_.address()).add(std::uint32_t{1});
    other_.launch({sms_of(run_.device)}, {kWarpSize}, arguments);
}

void StraightCode::evict_l2() {
    const std::uint32_t blocks = sms_of(run_.device);
    const std::uint64_t of_step = std::uint64_t{kSweepBytes} * kSweepWarps * kWarpSize;
    const std::uint64_t steps = (buffer_bytes_ + blocks * of_step - 1) / (blocks * of_step);
    const device::Buffer buffer(run_.device, Bytes{static_cast<std::int64_t>(steps * blocks * of_step)});
    device::Arguments arguments;
    arguments.add(results_.address()).add(buffer.address()).add(static_cast<std::uint32_t>(steps));
    sweep_.launch({blocks}, {kSweepWarps * kWarpSize}, arguments);
}

std::vector<CodePassage> StraightCode::passages(bool of_memory) {
    const std::uint32_t steps = straight_steps(run_.device);
    // A compiler that drops instructions would leave less code to fetch.
    if (reads_.size() != steps ||
        reads_.back() - reads_.front() < (steps - 1) * kBetweenReads * bytes_of_instruction(run_.device))
        return {};
    device::Arguments arguments;
    arguments.add(results_.address());
    std::vector<std::vector<double>> samples(steps - 1);
    if (!of_memory) kernel_.launch({1}, {kWarpSize}, arguments);
    for (int launch = 0; launch < kStraightLaunches; ++launch) {
        run_.progress((launch + (of_memory ? kStraightLaunches : 0)) / (2.0 * kStraightLaunches),
                      of_memory ? "code from memory" : "code from the L2");
        evict_code();
        if (of_memory) evict_l2();
        kernel_.launch({1}, {kWarpSize}, arguments);
        const auto words = results_.read<std::uint32_t>(steps);
        for (std::uint32_t step = 1; step < steps; ++step) samples[step - 1].push_back(words[step] - words[step - 1]);
    }
    std::vector<CodePassage> passages;
    for (std::uint32_t step = 1; step < steps; ++step)
        passages.push_back({reads_[step - 1], reads_[step], median(samples[step - 1])});
    return passages;
}

std::vector<CodePassage> StraightCode::from_l2() { return passages(false); }

std::vector<CodePassage> StraightCode::from_memory() {
    return buffer_bytes_ == 0 ? std::vector<CodePassage>() : passages(true);
}

}  // namespace gputomo::measure
