#include "measure/control/spin_within_warp.hpp"

#include "units/warp.hpp"

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// On a GPU with a SIMT stack the warp would otherwise spin for ever. Waiting for all threads takes far fewer
/// iterations.
constexpr std::uint32_t kMostIterations = 20'000;

}  // namespace

ptx::KernelBuilder spin_within_warp_kernel(ptx::Target target) {
    ptx::KernelBuilder k("spin_within_warp", target);
    const Reg results = k.param(Type::u64, "results");
    const Reg counter = k.shared("counter", Bytes{4});
    const Reg thread = k.special(SpecialRegister::tid_x);
    const Reg seen = k.reg(Type::u32);
    const Reg iterations = k.reg(Type::u32);
    const Reg through = k.reg(Type::pred);
    const Reg more = k.reg(Type::pred);
    k("st.volatile.shared.u32", Mem{counter}, 0);
    k("bar.sync", 0);
    k("mov.u32", iterations, 0);
    const ptx::Label top = k.label();
    const ptx::Label out = k.label();
    k.place(top);
    k("ld.volatile.shared.u32", seen, Mem{counter});
    k("setp.eq.u32", through, seen, thread);
    k.when(through)("bra", out);
    k("add.u32", iterations, iterations, 1);
    k("setp.lt.u32", more, iterations, static_cast<std::int64_t>(kMostIterations));
    k.when(more)("bra", top);
    k.place(out);
    k("add.u32", seen, thread, 1);
    k.when(through)("st.volatile.shared.u32", Mem{counter}, seen);
    const Reg result = k.reg(Type::u32);
    k("selp.u32", result, 1, 0, through);
    k("st.global.u32", Mem{k.element(results, thread, Bytes{4})}, result);
    return k;
}

SpinWithinWarp::SpinWithinWarp(device::Device& device)
    : kernel_(device, spin_within_warp_kernel(target_of(device))), results_(device, Bytes{4 * kWarpSize}) {}

int SpinWithinWarp::threads_that_leave() {
    device::Arguments arguments;
    arguments.add(results_.address());
    kernel_.launch({1}, {kWarpSize}, arguments);
    int through = 0;
    for (const auto one : results_.read<std::uint32_t>(kWarpSize)) through += static_cast<int>(one);
    return through;
}

}  // namespace gputomo::measure
