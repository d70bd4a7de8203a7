#include "experiments/issue/forward.hpp"

#include "experiments/estimates.hpp"

#include <vector>

namespace gputomo::experiments {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

constexpr int kWarp = 32;
constexpr int kLength = 64;
constexpr int kLaunches = 3;
/// x + -0 is x for every number, also for one that is an address.
constexpr std::uint32_t kMinusZero = 0x80000000;

}  // namespace

ptx::KernelBuilder forward_kernel(ptx::Target target, Beside beside) {
    const bool shared = beside == Beside::shared;
    ptx::KernelBuilder k(shared ? "forward_shared" : "forward_sfu", target);
    const Reg stamps = k.param(Type::u64, "stamps"), zero = k.param(Type::f32, "zero");
    const Reg word = k.dynamic_shared(), value = k.reg(Type::b32), address = k.reg(Type::u32), never = k.reg(Type::pred);
    k("st.shared.u32", Mem{word}, word);
    k("bar.sync", 0);
    k("mov.b32", value, word);
    const auto step = [&] {
        if (shared) {
            k("mov.b32", address, value);  // one that was added to is a number for ptxas, which would convert it
            k("ld.shared.b32", value, Mem{address});
        } else {
            k(target.sm < 20 ? "ex2.approx.f32" : "ex2.approx.ftz.f32", value, value);
        }
        k("add.rn.f32", value, value, zero);
    };
    append_doubled(k, {.stamps = stamps, .waited = value, .length = kLength, .append = [&](int count) { k.repeat(count, [&](int) { step(); }); }});
    k("setp.eq.u32", never, value, 1);
    k.when(never)("st.global.u32", Mem{stamps}, value);
    return k;
}

ForwardChain::ForwardChain(device::Device& device, Beside beside)
    : kernel_(device, forward_kernel(target_of(device), beside), {GrowingCode{.operations = 2 * kLength}}), stamps_(device, kWarp) {}

double ForwardChain::cycles() {
    std::vector<double> samples;
    for (int i = 0; i < kLaunches; ++i) {
        kernel_.launch({1}, {kWarp}, device::Arguments().add(stamps_.address()).add(kMinusZero), Bytes{kWarp * 4});
        samples.push_back(stamps_.cycles_of_n(kWarp) / kLength);
    }
    return summarise(samples).value;
}

}  // namespace gputomo::experiments
