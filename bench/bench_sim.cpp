// Speed of the simulated GPU: warp instructions, loads of a pointer chase, or transactions per second.
#include "machine/json.hpp"
#include "ptx/builder.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"
#include "units/file.hpp"

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gputomo::sim {
namespace {

using ptx::KernelBuilder;
using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

const std::string kGtx280 = GPUTOMO_SOURCE_DIR "/machines/gtx280.json";
const std::string kKepler = GPUTOMO_SOURCE_DIR "/tests/data/machines/kepler_like.json";

std::unique_ptr<SimulatedDevice> device_of(const std::string& file) { return make_device(machine::load(file), {}); }
ptx::Target target_of(const device::Device& gpu) {
    const auto target = gpu.ptx_target();
    return {target.version_major, target.version_minor, target.sm};
}

/// Launches the kernel repeatedly. `count` takes the items of one launch from its counters.
void launch_repeatedly(benchmark::State& state, SimulatedDevice& gpu, const KernelBuilder& kernel,
                       const device::Launch& launch, const std::function<double(const Counters&)>& count) {
    const auto module = gpu.load(kernel.text());
    double items = 0;
    for (auto _ : state) {
        module->kernel(kernel.name()).launch(launch);
        items += count(gpu.counters());
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(items));
}

double warp_instructions(const Counters& counters) { return static_cast<double>(counters.warp_instructions); }

/// Pointer chase of one thread through `bytes` of memory, `stride` bytes apart.
void chase(benchmark::State& state, const std::string& machine, std::int64_t bytes, std::int64_t stride) {
    constexpr int kUnroll = 64, kIterations = 2000;
    const auto gpu = device_of(machine);
    device::Buffer ring(*gpu, Bytes(bytes));
    std::vector<std::uint64_t> words(static_cast<std::size_t>(bytes / 8));
    for (std::int64_t at = 0; at < bytes; at += stride)
        words[static_cast<std::size_t>(at / 8)] = ring.address() + static_cast<std::uint64_t>((at + stride) % bytes);
    ring.write(words);
    KernelBuilder k("chase", target_of(*gpu));
    const Reg p = k.param(Type::u64, "ring"), iterations = k.param(Type::u32, "iterations");
    k.loop(iterations, [&] { k.repeat(kUnroll, [&](int) { k("ld.global.u64", p, Mem(p)); }); });
    device::Launch launch{.block = {1}};
    launch.arguments.add(ring.address()).add(std::uint32_t{kIterations});
    launch_repeatedly(state, *gpu, k, launch, [](const Counters&) { return double{kUnroll} * kIterations; });
}
BENCHMARK_CAPTURE(chase, dram_gtx280, kGtx280, 1 << 20, 512);
BENCHMARK_CAPTURE(chase, l1_kepler, kKepler, 8 << 10, 128);
BENCHMARK_CAPTURE(chase, l2_kepler, kKepler, 256 << 10, 128);
BENCHMARK_CAPTURE(chase, dram_kepler, kKepler, 8 << 20, 128);

/// Full SMs, whose warps load from the cache and compute: one load for seven arithmetic instructions.
void mix(benchmark::State& state, const std::string& machine) {
    constexpr int kIterations = 20;
    const auto gpu = device_of(machine);
    const auto sms = static_cast<std::uint32_t>(*gpu->attribute(device::Attribute::multiprocessor_count));
    const device::Buffer data(*gpu, Bytes(4096));
    KernelBuilder k("mix", target_of(*gpu));
    const Reg base = k.param(Type::u64, "data"), iterations = k.param(Type::u32, "iterations");
    const Reg index = k.reg(Type::u32);
    k("and.b32", index, k.special(SpecialRegister::tid_x), 127);
    const Reg at = k.element(base, index, Bytes(4));
    const Reg x = k.reg(Type::f32), y = k.reg(Type::f32), i = k.reg(Type::u32), j = k.reg(Type::u32);
    k("mov.f32", y, 1.5);
    k("mov.u32", i, 1);
    k.loop(iterations, [&] {
        k.repeat(4, [&](int) {
            k("ld.global.f32", x, Mem(at));
            k("fma.rn.f32", y, x, y, y);
            k("add.u32", i, i, index);
            k("mul.f32", y, y, x);
            k("xor.b32", j, i, index);
            k("add.f32", y, y, x);
            k("shl.b32", i, j, 1);
            k("add.u32", j, j, i);
        });
    });
    k("st.global.f32", Mem(at), y);
    k("st.global.u32", Mem(at), j);
    device::Launch launch{.grid = {2 * sms}, .block = {512}, .time_limit = std::chrono::minutes(5)};
    launch.arguments.add(data.address()).add(std::uint32_t{kIterations});
    launch_repeatedly(state, *gpu, k, launch, warp_instructions);
}
BENCHMARK_CAPTURE(mix, kepler, kKepler)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(mix, gtx280, kGtx280)->Unit(benchmark::kMillisecond);

/// Exchanges through shared memory, with a barrier after each.
void exchange(benchmark::State& state) {
    constexpr int kIterations = 50;
    const auto gpu = device_of(kKepler);
    KernelBuilder k("exchange", target_of(*gpu));
    const Reg iterations = k.param(Type::u32, "iterations");
    const Reg words = k.shared("words", Bytes(4096)), tid = k.special(SpecialRegister::tid_x);
    const Reg mine = k.reg(Type::u32), other = k.reg(Type::u32), value = k.reg(Type::u32);
    k("mad.lo.u32", mine, tid, 4, words);
    k("xor.b32", other, mine, 4);
    k("mov.u32", value, tid);
    k.loop(iterations, [&] {
        k("st.shared.u32", Mem(mine), value);
        k("bar.sync", 0);
        k("ld.shared.u32", value, Mem(other));
        k("bar.sync", 0);
    });
    device::Launch launch{.grid = {16}, .block = {512}};
    launch.arguments.add(std::uint32_t{kIterations});
    launch_repeatedly(state, *gpu, k, launch, warp_instructions);
}
BENCHMARK(exchange)->Unit(benchmark::kMillisecond);

/// A tiled matrix multiplication as machine code: 132 blocks on a simulated H200.
void machine_code(benchmark::State& state) {
    constexpr std::uint32_t kTile = 64, kDepth = 128;
    const auto gpu = make_device(completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine, {});
    const auto module = gpu->load(read_file(GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/sgemm.cubin", "a cubin"));
    constexpr std::uint32_t kColumns = 12 * kTile, kRows = 11 * kTile;
    const device::Buffer a(*gpu, Bytes(4 * kRows * kDepth)), b(*gpu, Bytes(4 * kDepth * kColumns)),
        c(*gpu, Bytes(4 * kRows * kColumns));
    device::Launch launch{.grid = {12, 11}, .block = {256}, .time_limit = std::chrono::minutes(5)};
    launch.arguments.add(a.address()).add(b.address()).add(c.address()).add(kColumns).add(kDepth);
    double items = 0;
    for (auto _ : state) {
        module->kernel("sgemm").launch(launch);
        items += warp_instructions(gpu->counters());
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(items));
}
BENCHMARK(machine_code)->Unit(benchmark::kMillisecond);

/// Every thread reads and writes 16 bytes of its own: the speed of the memory system.
void stream(benchmark::State& state) {
    constexpr std::uint32_t kBlocks = 128, kThreads = 256;
    const auto gpu = device_of(kKepler);
    const device::Buffer data(*gpu, Bytes(std::int64_t{kBlocks} * kThreads * 16));
    KernelBuilder k("stream", target_of(*gpu));
    const Reg base = k.param(Type::u64, "data");
    const Reg at = k.element(base, k.thread_index(), Bytes(16));
    const Reg a = k.reg(Type::b32), b = k.reg(Type::b32), c = k.reg(Type::b32), d = k.reg(Type::b32);
    k("ld.global.v4.b32", ptx::Vec{a, b, c, d}, Mem(at));
    k("add.u32", a, a, 1);
    k("st.global.v4.b32", Mem(at), ptx::Vec{a, b, c, d});
    device::Launch launch{.grid = {kBlocks}, .block = {kThreads}};
    launch.arguments.add(data.address());
    launch_repeatedly(state, *gpu, k, launch,
                      [](const Counters& c) { return static_cast<double>(c.memory_transactions); });
}
BENCHMARK(stream)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gputomo::sim
