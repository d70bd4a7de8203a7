#include "measure/warpgroup/product_timing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gputomo::measure {
namespace {

constexpr int kCapability = 90;
/// Products of the longer group. All are in flight at once; with more than eight, the last ones wait to be issued.
constexpr int kMany = 5;

/// Products beside arithmetic. They take 1,000 cycles on an H200, and the arithmetic 160.
constexpr int kProductsOfRound = 8;

/// Cycles of a round of the threads from `first` on: the slowest thread counts, and of the rounds behind the first one
/// the fastest.
double cycles_of(device::Device& device, std::span<const std::byte> cubin, int threads, int first, std::uint32_t mask) {
    const auto module = device.load({reinterpret_cast<const char*>(cubin.data()), cubin.size()});
    const device::Buffer out(device, Bytes{std::int64_t{4} * kProductRounds * threads});
    device::Launch launch{.grid = {1}, .block = {static_cast<std::uint32_t>(threads)}};
    launch.arguments.add(out.address()).add(product_descriptor_a()).add(product_descriptor_b()).add(mask);
    module->kernel(kProductKernel).launch(launch);
    const auto cycles = out.read<std::uint32_t>(static_cast<std::size_t>(kProductRounds) * threads);
    double fastest = 0;
    for (int round = 1; round < kProductRounds; ++round) {
        const auto begin = cycles.begin() + round * threads;
        const auto slowest = static_cast<double>(*std::max_element(begin + first, begin + threads));
        fastest = round == 1 ? slowest : std::min(fastest, slowest);
    }
    return fastest;
}

double cycles_of(device::Device& device, const ProductShape& shape, int count, std::uint32_t mask) {
    return cycles_of(device, product_cubin(shape, count), kProductThreads, 0, mask);
}

bool has_registers(const device::Device& device, std::int64_t threads) {
    const auto registers = device.attribute(device::Attribute::max_registers_per_block);
    return !registers || *registers >= threads * kProductRegisters;
}

}  // namespace

bool executes_warpgroup_products(const device::Device& device) {
    // Simulated GPUs of this compute capability may have fewer registers than the kernel needs.
    return device.ptx_target().sm == kCapability && has_registers(device, kProductThreads);
}

bool executes_beside_products(const device::Device& device) {
    return executes_warpgroup_products(device) && has_registers(device, kBesideThreads);
}

ProductTime time_products(device::Device& device, const ProductShape& shape, std::uint32_t mask) {
    const double none = cycles_of(device, shape, 0, mask), one = cycles_of(device, shape, 1, mask),
                 many = cycles_of(device, shape, kMany, mask);
    return {.latency = one - none + kWaitStall, .interval = (many - one) / (kMany - 1)};
}

BesideTime time_beside_products(device::Device& device, std::uint32_t mask) {
    const auto interval = [&](int products) {
        return cycles_of(device, beside_cubin(products), kBesideThreads, kProductThreads, mask) / kBesideInstructions;
    };
    return {.alone = interval(0), .beside = interval(kProductsOfRound)};
}

}  // namespace gputomo::measure
