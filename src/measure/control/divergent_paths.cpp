#include "measure/control/divergent_paths.hpp"

#include "measure/control/branch_layout.hpp"
#include "units/warp.hpp"

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Warps that a launch may have: one for each of four schedulers.
constexpr int kMostWarps = 4;
/// Pairs of dependent operations of a path. With few of them the compiler uses predicates instead of branches.
constexpr int kPairs = 8;
/// Marks the code of path i. No other constant looks like this.
constexpr std::uint32_t kPathMark = 0x5eed'0000;

}  // namespace

ptx::KernelBuilder divergent_paths_kernel(ptx::Target target) {
    ptx::KernelBuilder k("divergent_paths", target);
    const Reg keys = k.param(Type::u64, "keys");
    const Reg times = k.param(Type::u64, "times");
    const Reg thread = k.thread_index();
    const Reg key = k.reg(Type::u32);
    k("ld.global.u32", key, Mem{k.element(keys, thread, Bytes{4})});
    const std::vector<Reg> stamps = k.regs(Type::u32, 4);
    const Reg value = k.reg(Type::u32);
    const Reg here = k.reg(Type::pred);
    k.loop(2, [&] {  // the first iteration warms the instruction caches
        const ptx::Label behind = k.label();
        k("mov.u32", value, key);
        k("bar.sync", 0);
        k("mov.u32", stamps[0], k.clock_after(value));
        for (int path = 0; path < kPaths; ++path) {
            const ptx::Label next = k.label();
            k("setp.eq.u32", here, key, path);
            k.unless(here)("bra", next);
            k("mov.u32", stamps[1], k.clock_after(value));
            append_marked(k, value, key, kPathMark + static_cast<std::uint32_t>(path), kPairs);
            k("mov.u32", stamps[2], k.clock_after(value));
            k("bra", behind);
            k.place(next);
        }
        k.place(behind);
        k("mov.u32", stamps[3], SpecialRegister::clock);
    });
    const Reg mine = k.element(times, thread, Bytes{20});
    for (int i = 0; i < 4; ++i) k("st.global.u32", Mem{mine, 4 * i}, stamps[static_cast<std::size_t>(i)]);
    k("st.global.u32", Mem{mine, 16}, value);
    return k;
}

DivergentPaths::DivergentPaths(device::Device& device)
    : kernel_(device, divergent_paths_kernel(target_of(device))),
      keys_(device, Bytes{4 * kWarpSize * kMostWarps}),
      times_(device, Bytes{20 * kWarpSize * kMostWarps}) {}

std::vector<ThreadTimes> DivergentPaths::run(int warps, const std::function<int(int)>& key) {
    const auto threads = static_cast<std::size_t>(warps * kWarpSize);
    std::vector<std::uint32_t> keys;
    for (std::size_t t = 0; t < threads; ++t) keys.push_back(static_cast<std::uint32_t>(key(static_cast<int>(t))));
    keys_.write(keys);
    device::Arguments arguments;
    arguments.add(keys_.address()).add(times_.address());
    kernel_.launch({1}, {static_cast<std::uint32_t>(threads)}, arguments);
    const auto raw = times_.read<std::uint32_t>(5 * threads);
    std::vector<ThreadTimes> result;
    for (std::size_t t = 0; t < threads; ++t) {
        const auto since = [&](std::size_t i) -> std::int64_t {
            return static_cast<std::int32_t>(raw[5 * t + i] - raw[0]);
        };
        result.push_back({since(1), since(2), since(3)});
    }
    return result;
}

std::optional<bool> DivergentPaths::then_falls_through() const {
    std::vector<std::uint32_t> marks;
    for (int path = 0; path < kPaths; ++path) marks.push_back(kPathMark + static_cast<std::uint32_t>(path));
    return all_fall_through(kernel_, marks);
}

}  // namespace gputomo::measure
