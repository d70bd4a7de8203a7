#include "measure/kernel/clock_kernels.hpp"

#include <map>
#include <span>
#include "measure/kernel/device_facts.hpp"

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

constexpr int kClockReads = 16;  ///< back to back
constexpr int kLoads = 16;       ///< loads, each followed by a read
/// Bytes between the loads: further than any line, so that they take different times.
constexpr std::int64_t kLoadStride = 4096;
constexpr int kReadings = kClockReads + kLoads;
constexpr int kClockWords = kReadings + 1;  ///< and one word for the SM
/// Launches start at moments that are unrelated to the clock's step, so several of them meet all phases of it.
constexpr int kClockLaunches = 12;

/// Two passes; the readings of the second one are kept.
ptx::KernelBuilder readings_kernel(ptx::Target target) {
    ptx::KernelBuilder k("clock_readings", target);
    const Reg results = k.param(Type::u64, "results");
    const Reg data = k.param(Type::u64, "data");
    const std::vector<Reg> times = k.regs(Type::u32, kReadings);
    const Reg word = k.reg(Type::u32);
    k.loop(2, [&] {
        for (int i = 0; i < kClockReads; ++i) k("mov.u32", times[i], SpecialRegister::clock);
        for (int i = 0; i < kLoads; ++i) {
            k("ld.volatile.global.u32", word, Mem{data, i * kLoadStride});
            k("mov.u32", times[kClockReads + i], k.clock_after(word));
        }
    });
    const Reg mine = k.element(results, k.special(SpecialRegister::ctaid_x), Bytes{4 * kClockWords});
    for (int i = 0; i < kReadings; ++i) k("st.global.u32", Mem{mine, 4 * i}, times[i]);
    k("st.global.u32", Mem{mine, 4 * kReadings}, k.special(SpecialRegister::smid));
    return k;
}

ptx::KernelBuilder starts_kernel(ptx::Target target) {
    ptx::KernelBuilder k("block_starts", target);
    const Reg start = k.entry_clock32();
    const Reg results = k.param(Type::u64, "results");
    const Reg mine = k.element(results, k.special(SpecialRegister::ctaid_x), Bytes{sizeof(BlockStart)});
    k("st.global.u32", Mem{mine}, k.special(SpecialRegister::smid));
    k("st.global.u32", Mem{mine, 4}, start);
    return k;
}

ptx::KernelBuilder spin_kernel(ptx::Target target) {
    ptx::KernelBuilder k("spin", target);
    const Reg stamps = k.param(Type::u64, "stamps");
    const Reg cycles = k.param(Type::u32, "cycles");
    const Reg start = k.clock32();
    const Reg now = k.reg(Type::u32);
    const Reg spent = k.reg(Type::u32);
    const Reg more = k.reg(Type::pred);
    const ptx::Label top = k.label();
    k.place(top);
    k("mov.u32", now, SpecialRegister::clock);
    k("sub.u32", spent, now, start);
    k("setp.lt.u32", more, spent, cycles);
    k.when(more)("bra", top);
    k("st.global.u32", Mem{stamps}, start);
    k("st.global.u32", Mem{stamps, 4}, now);
    return k;
}

}  // namespace

ClockReadings read_clocks(device::Device& device) {
    const std::uint32_t blocks = sms_of(device);
    const device::Buffer results(device, Bytes{std::int64_t{4} * kClockWords * blocks});
    const device::Buffer data(device, Bytes{kLoadStride * kLoads});
    // The compiler may read the clock by another instruction, followed by a wait. It is enough if half of the reads
    // follow each other directly.
    CompiledKernel kernel(
        device, readings_kernel(target_of(device)),
        {ReadsBackToBack{kClockReads / 2}, TimedCode{.operation = {"LDG"}, .counts = std::vector<int>(kLoads, 1)}});
    device::Arguments arguments;
    arguments.add(results.address()).add(data.address());
    ClockReadings readings{.code_checks = kernel.code_checks()};
    std::map<std::uint32_t, std::uint32_t> first_of_sm;
    for (int launch = 0; launch < kClockLaunches; ++launch) {
        kernel.launch({blocks}, {1}, arguments);
        const auto raw = results.read<std::uint32_t>(std::size_t{kClockWords} * blocks);
        for (std::size_t block = 0; block < blocks; ++block) {
            const auto times = std::span(raw).subspan(block * kClockWords, kClockWords);
            const std::uint32_t origin = first_of_sm.emplace(times[kReadings], times[0]).first->second;
            for (int i = 1; i < kClockReads; ++i)
                readings.back_to_back.push_back(static_cast<std::int32_t>(times[i] - times[i - 1]));
            for (int i = 0; i < kReadings; ++i) readings.all.push_back(static_cast<std::int32_t>(times[i] - origin));
        }
    }
    return readings;
}

std::vector<BlockStart> block_starts(device::Device& device, std::uint32_t per_sm) {
    const std::uint32_t blocks = sms_of(device) * per_sm;
    const device::Buffer results(device, Bytes{static_cast<std::int64_t>(sizeof(BlockStart)) * blocks});
    CompiledKernel kernel(device, starts_kernel(target_of(device)));
    device::Arguments arguments;
    arguments.add(results.address());
    kernel.launch({blocks}, {1}, arguments);  // compiles and fetches the code
    kernel.launch({blocks}, {1}, arguments);
    return results.read<BlockStart>(blocks);
}

Spinner::Spinner(device::Device& device)
    : kernel_(device, spin_kernel(target_of(device)), {ReadInLoop{}}), stamps_(device, Bytes{8}) {}

Spinner::Result Spinner::run(std::uint32_t cycles) {
    device::Arguments arguments;
    arguments.add(stamps_.address()).add(cycles);
    const auto elapsed = kernel_.launch({1}, {1}, arguments).elapsed;
    const auto stamps = stamps_.read<std::uint32_t>(2);
    return {stamps[1] - stamps[0], elapsed};
}

}  // namespace gputomo::measure
