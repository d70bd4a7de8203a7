#include "experiments/arithmetic_kernel.hpp"

#include "experiments/estimates.hpp"
#include "ptx/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::experiments {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

constexpr int kMaxThreads = 1024;
constexpr int kLaunches = 3;
constexpr std::int64_t kOperandBytes = 8;

std::string kernel_name(std::string_view what, const TimedOperation& operation, int chains) {
    std::string name = fmt::format("{}_{}_ilp{}", what, operation.mnemonic, chains);
    std::ranges::replace(name, '.', '_');
    return name;
}

std::string mnemonic_for(std::string_view access, Type type) { return fmt::format("{}.{}", access, ptx::name_of(type)); }

std::vector<Chain> load_chains(ptx::KernelBuilder& k, const TimedOperation& operation, int count, Reg operands) {
    std::vector<Chain> chains;
    for (int i = 0; i < count; ++i) {
        const Chain chain{k.reg(operation.type), k.reg(operation.type)};
        k(mnemonic_for("ld.global", operation.type), chain.even, Mem{operands, 2 * i * kOperandBytes});
        k(mnemonic_for("ld.global", operation.type), chain.odd, Mem{operands, (2 * i + 1) * kOperandBytes});
        chains.push_back(chain);
    }
    return chains;
}

void store_chains(ptx::KernelBuilder& k, const TimedOperation& operation, std::span<const Chain> chains, Reg results) {
    for (std::size_t i = 0; i < chains.size(); ++i) {
        const auto offset = static_cast<std::int64_t>(2 * i) * kOperandBytes;
        k(mnemonic_for("st.global", operation.type), Mem{results, offset}, chains[i].even);
        k(mnemonic_for("st.global", operation.type), Mem{results, offset + kOperandBytes}, chains[i].odd);
    }
}

TimedCode timed_code(const TimedOperation& operation, std::vector<int> counts) {
    return {.operation = {operation.opcodes}, .counts = std::move(counts), .companions = operation.companions};
}

}  // namespace

ptx::KernelBuilder doubled_chain_kernel(ptx::Target target, const TimedOperation& operation, DoubledChain::Shape shape) {
    ptx::KernelBuilder k(kernel_name("chain", operation, shape.chains), target);
    const Reg operands = k.param(Type::u64, "operands");
    const Reg results = k.param(Type::u64, "results");
    const Reg stamps = k.param(Type::u64, "stamps");
    const auto chains = load_chains(k, operation, shape.chains, operands);
    append_doubled(k, {.stamps = stamps,
                       .waited = chains.back().odd,
                       .length = shape.length,
                       .append = [&](int count) { append_chains(k, operation, chains, count); }});
    store_chains(k, operation, chains, results);
    return k;
}

DoubledChain::DoubledChain(device::Device& device, const TimedOperation& operation, Shape shape)
    : shape_(shape),
      kernel_(device, doubled_chain_kernel(target_of(device), operation, shape),
              {timed_code(operation, {shape.length * shape.chains, 2 * shape.length * shape.chains})}),
      operands_(device, Bytes{4 * shape.chains * kOperandBytes}),
      stamps_(device, kMaxThreads) {
    operands_.write(initial_operands(operation, shape.chains));
}

double DoubledChain::cycles_of_n(int threads) {
    device::Arguments arguments;
    arguments.add(operands_.address())
        .add(operands_.address() + static_cast<device::Address>(2 * shape_.chains * kOperandBytes))
        .add(stamps_.address());
    kernel_.launch({1}, {static_cast<std::uint32_t>(threads)}, arguments);
    return stamps_.cycles_of_n(threads);
}

double DoubledChain::latency() {
    std::vector<double> samples;
    for (int i = 0; i < kLaunches; ++i) samples.push_back(cycles_of_n(1) / shape_.length);
    return summarise(samples).value;
}

double DoubledChain::throughput(int warps, int warp_size) {
    const double operations = static_cast<double>(warps) * warp_size * shape_.length * shape_.chains;
    return operations / cycles_of_n(warps * warp_size);
}

ptx::KernelBuilder chain_loop_kernel(ptx::Target target, const TimedOperation& operation, ChainLoop::Shape shape) {
    ptx::KernelBuilder k(kernel_name("loop", operation, shape.chains), target);
    const Reg operands = k.param(Type::u64, "operands");
    const Reg results = k.param(Type::u64, "results");
    const Reg stamps = k.param(Type::u64, "stamps");
    const Reg turns = k.param(Type::u32, "turns");
    const auto chains = load_chains(k, operation, shape.chains, operands);
    append_doubled_loop(k,
                        {.stamps = stamps,
                         .waited = chains.back().odd,
                         .length = shape.operations / shape.chains,
                         .append = [&](int count) { append_chains(k, operation, chains, count); }},
                        turns);
    store_chains(k, operation, chains, results);
    return k;
}

ChainLoop::ChainLoop(device::Device& device, const TimedOperation& operation, Shape shape)
    : shape_(shape),
      kernel_(device, chain_loop_kernel(target_of(device), operation, shape), {timed_code(operation, {shape.operations})}),
      operands_(device, Bytes{4 * shape.chains * kOperandBytes}),
      stamps_(device, kMaxThreads) {
    operands_.write(initial_operands(operation, shape.chains));
}

double ChainLoop::throughput(int warps, int warp_size) {
    device::Arguments arguments;
    arguments.add(operands_.address())
        .add(operands_.address() + static_cast<device::Address>(2 * shape_.chains * kOperandBytes))
        .add(stamps_.address())
        .add(shape_.turns);
    const int threads = warps * warp_size;
    kernel_.launch({1}, {static_cast<std::uint32_t>(threads)}, arguments);
    return static_cast<double>(threads) * shape_.turns * shape_.operations / stamps_.cycles_of_n(threads);
}

}  // namespace gputomo::experiments
