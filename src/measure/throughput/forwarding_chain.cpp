#include "measure/throughput/forwarding_chain.hpp"

#include "units/statistics.hpp"

#include <vector>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

/// One thread, because the latencies to compare with are also those of one thread. A whole warp takes longer on a GPU
/// that executes half-warps.
constexpr int kThreads = 1;
/// Pairs of an instruction and an add in the chain. A longer chain averages better; a shorter one fits smaller
/// instruction caches.
constexpr int kLength = 64;
/// Launches whose median counts.
constexpr int kChainLaunches = 3;
/// x + -0 is x for every number, and so for an address too.
constexpr std::uint32_t kMinusZero = 0x80000000;

}  // namespace

ptx::KernelBuilder forwarding_kernel(ptx::Target target, CoIssued other, bool moves_vanish) {
    const bool shared = other == CoIssued::shared;
    ptx::KernelBuilder k(shared ? "forward_shared" : "forward_sfu", target);
    const Reg stamps = k.param(Type::u64, "stamps"), zero = k.param(Type::f32, "zero");
    const Reg word = k.dynamic_shared(), value = k.reg(Type::b32), address = k.reg(Type::u32),
              never = k.reg(Type::pred);
    k("st.shared.u32", Mem{word}, word);
    k("bar.sync", 0);
    k("mov.b32", value, word);
    const auto step = [&] {
        if (shared) {
            if (moves_vanish)
                // ptxas takes a register that was added to for a number and would convert it
                k("mov.b32", address, value);
            k("ld.shared.b32", value, Mem{moves_vanish ? address : value});
        } else {
            k(target.sm < 20 ? "rsqrt.approx.f32" : "ex2.approx.ftz.f32", value,
              value);  // one machine instruction each
        }
        k("add.rn.f32", value, value, zero);
    };
    append_doubled(k, {.stamps = stamps, .waited = value, .length = kLength, .append = [&](int count) {
                           k.repeat(count, [&](int) { step(); });
                       }});
    k("setp.eq.u32", never, value, 1);
    k.when(never)("st.global.u32", Mem{stamps}, value);
    return k;
}

ForwardingChain::ForwardingChain(device::Device& device, CoIssued other)
    : kernel_(compile(device, other)), stamps_(device, kThreads) {}

/// A compiler removes the move of an address. Without machine code there is no compiler that removes or converts
/// anything, so the moves are left out.
CompiledKernel ForwardingChain::compile(device::Device& device, CoIssued other) {
    const std::vector<CodeExpectation> expected = {GrowingCode{.operations = 2 * kLength}};
    CompiledKernel kernel(device, forwarding_kernel(target_of(device), other, true), expected);
    if (kernel.module().machine_code()) return kernel;
    return {device, forwarding_kernel(target_of(device), other, false), expected};
}

double ForwardingChain::cycles() {
    std::vector<double> samples;
    for (int i = 0; i < kChainLaunches; ++i) {
        kernel_.launch({1}, {kThreads}, device::Arguments().add(stamps_.address()).add(kMinusZero), Bytes{4});
        samples.push_back(stamps_.cycles_of_n(kThreads) / kLength);
    }
    return summarise(samples).value;
}

}  // namespace gputomo::measure
