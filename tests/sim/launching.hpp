// Kernels that time or count something on a simulated GPU.
#pragma once

#include "machines.hpp"

#include "ptx/builder.hpp"
#include "sim/simulator.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace gputomo::sim::test {

using ptx::KernelBuilder;
using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

inline const ptx::Target kTarget{8, 0, 13};

/// Runs a kernel whose first parameter is a buffer of u32 results; returns `results` of them.
inline std::vector<std::uint32_t> run(device::Device& gpu, const KernelBuilder& k, std::size_t results,
                                      device::Dim3 grid, device::Dim3 block, std::uint64_t second = 0,
                                      std::chrono::milliseconds limit = std::chrono::milliseconds(5000)) {
    device::Buffer out(gpu, Bytes(static_cast<std::int64_t>(4 * results)));
    const auto module = gpu.load(k.text());
    device::Launch launch{.grid = grid, .block = block, .time_limit = limit};
    launch.arguments.add(out.address());
    if (second != 0) launch.arguments.add(second);
    module->kernel(k.name()).launch(launch);
    return out.read<std::uint32_t>(results);
}

/// What each thread of one block stores; `body(builder, tid, result)` computes it, a u32 that starts as 0.
inline std::vector<std::uint32_t> stored_by_threads(const machine::Machine& machine, std::uint32_t threads,
                                                    const std::function<void(KernelBuilder&, Reg, Reg)>& body) {
    const auto gpu = make_device(machine, {});
    KernelBuilder k("threads", kTarget);
    const Reg out = k.param(Type::u64, "out");
    const Reg tid = k.special(SpecialRegister::tid_x), result = k.reg(Type::u32);
    k("mov.u32", result, 0);
    body(k, tid, result);
    k("st.global.u32", Mem(k.element(out, tid, Bytes(4))), result);
    return run(*gpu, k, threads, {}, {threads});
}

/// Cycles of `body(register)` between two clock reads of one thread, without the cost of a clock read.
inline std::uint32_t cycles_of(device::Device& gpu, const std::function<void(KernelBuilder&, Reg)>& body,
                               std::uint32_t threads = 1) {
    KernelBuilder k("timed", kTarget);
    const Reg out = k.param(Type::u64, "out");
    const Reg value = k.reg(Type::u32);
    k("mov.u32", value, 0);
    const Reg warm = k.reg(Type::u32);
    k("add.u32", warm, value, 0);
    const Reg start = k.clock32();
    body(k, value);
    const Reg ready = k.reg(Type::u32);
    k("mov.u32", ready, value);  // waits for the chain, then takes one latency
    const Reg after = k.reg(Type::u32);
    k("add.u32", after, ready, 0);
    const Reg end = k.clock_after(after);
    k("st.global.u32", Mem(out), start);
    k("st.global.u32", Mem(out, 4), end);
    const auto times = run(gpu, k, 2, {}, {threads});
    return times[1] - times[0];
}

/// The message of what `body` throws; empty where it throws nothing.
inline std::string message_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const std::exception& e) {
        return e.what();
    }
    return {};
}

/// small_machine() with independently scheduled threads.
inline machine::Machine independent_machine() {
    auto machine = small_machine();
    machine.issue.divergence.set("independent");
    machine.issue.barrier_granularity.set("thread");
    return machine;
}

}  // namespace gputomo::sim::test
