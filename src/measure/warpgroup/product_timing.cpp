#include "measure/warpgroup/product_timing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gputomo::measure {
namespace {

constexpr int kCapability = 90;
/// Products of the longer group. All are in flight at once; with more than eight, the last ones wait to be issued.
constexpr int kMany = 5;

/// Cycles of a round: the slowest thread counts, and of the rounds behind the first one the fastest.
double cycles_of(device::Device& device, const ProductShape& shape, int count, std::uint32_t mask) {
    const auto cubin = product_cubin(shape, count);
    const auto module = device.load({reinterpret_cast<const char*>(cubin.data()), cubin.size()});
    const device::Buffer out(device, Bytes{4 * kProductRounds * kProductThreads});
    device::Launch launch{.grid = {1}, .block = {kProductThreads}};
    launch.arguments.add(out.address()).add(product_descriptor_a()).add(product_descriptor_b()).add(mask);
    module->kernel(kProductKernel).launch(launch);
    const auto cycles = out.read<std::uint32_t>(std::size_t{kProductRounds} * kProductThreads);
    double fastest = 0;
    for (int round = 1; round < kProductRounds; ++round) {
        const auto first = cycles.begin() + round * kProductThreads;
        const auto slowest = static_cast<double>(*std::max_element(first, first + kProductThreads));
        fastest = round == 1 ? slowest : std::min(fastest, slowest);
    }
    return fastest;
}

}  // namespace

bool executes_warpgroup_products(const device::Device& device) {
    // Simulated GPUs of this compute capability may have fewer registers than the kernel needs.
    const auto registers = device.attribute(device::Attribute::max_registers_per_block);
    return device.ptx_target().sm == kCapability &&
           (!registers || *registers >= std::int64_t{kProductThreads} * kProductRegisters);
}

ProductTime time_products(device::Device& device, const ProductShape& shape, std::uint32_t mask) {
    const double none = cycles_of(device, shape, 0, mask), one = cycles_of(device, shape, 1, mask),
                 many = cycles_of(device, shape, kMany, mask);
    return {.latency = one - none + kWaitStall, .interval = (many - one) / (kMany - 1)};
}

}  // namespace gputomo::measure
