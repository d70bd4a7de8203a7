#include "measure/throughput/timed_chains.hpp"

#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <stdexcept>

namespace gputomo::measure {
namespace {

using ptx::Reg;
using ptx::Type;

/// The most threads that a block may have on any GPU so far.
constexpr int kMostChainThreads = 1024;
/// Launches whose median counts.
constexpr int kTimedLaunches = 3;
/// Cycles of a run. Warps that finish one iteration late are then less than a percent of it.
constexpr double kSteadyCycles = 60'000;
/// Most loop iterations, so that slow operations do not take too long.
constexpr double kMostIterations = 4096;

std::string kernel_name(std::string_view what, const TimedOperation& operation, int chains) {
    std::string name = fmt::format("{}_{}_ilp{}", what, operation.name, chains);
    std::ranges::replace_if(
        name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}

std::string loop_name(std::span<const LoopPart> parts) {
    std::string name = kernel_name("loop", parts[0].operation, parts[0].chains);
    for (const auto& part : parts.subspan(1))
        name += fmt::format("_with_{}_{}", part.count, kernel_name("", part.operation, part.chains));
    return name;
}

std::vector<std::uint64_t> operands_of(std::span<const LoopPart> parts) {
    auto values = shared_values();
    for (const auto& part : parts) {
        const auto own = initial_operands(part.operation, part.chains);
        values.insert(values.end(), own.begin(), own.end());
    }
    return values;
}

/// All lanes read the same operands, but the compiler must not know that: it has instructions for uniform values, and
/// it removes shuffles of them.
constexpr std::uint32_t kStride = 0;

Reg operands_of_lane(ptx::KernelBuilder& k, Reg base, Reg stride) {
    const Reg operands = k.reg(Type::u64);
    k("mad.wide.u32", operands, k.special(ptx::SpecialRegister::tid_x), stride, base);
    return operands;
}

/// What the machine code between clock reads must hold: n and 2n operations, or at least as many instructions if the
/// operation's machine instruction is unknown.
std::vector<CodeExpectation> doubled_code(const TimedOperation& operation, int n) {
    if (operation.opcodes.empty()) return {GrowingCode{.operations = n}};
    return {TimedCode{.operation = {operation.opcodes}, .counts = {n, 2 * n}, .companions = operation.companions}};
}

std::vector<CodeExpectation> loop_code(std::span<const LoopPart> parts) {
    std::vector<CodeExpectation> expected;
    if (parts.size() == 1 && !parts[0].operation.opcodes.empty())
        expected.push_back(TimedCode{.operation = {parts[0].operation.opcodes},
                                     .counts = {parts[0].count},
                                     .companions = parts[0].operation.companions});
    return expected;
}

}  // namespace

ChainMemory::ChainMemory(device::Device& device, std::span<const std::uint64_t> operands)
    : half_(operands.size_bytes()), buffer_(device, Bytes{static_cast<std::int64_t>(2 * operands.size_bytes())}) {
    buffer_.write(std::vector<std::uint64_t>(operands.begin(), operands.end()));
}

int most_warps(const CompiledKernel& kernel, int warp_size) {
    return std::max(1, kernel.properties().max_threads_per_block / warp_size);
}

ptx::KernelBuilder doubled_chain_kernel(ptx::Target target, const TimedOperation& operation,
                                        DoubledChain::Shape shape) {
    if (shape.length % 2 != 0) throw std::logic_error("doubled_chain_kernel: the length must be even");
    ptx::KernelBuilder k(kernel_name("chain", operation, shape.chains), target);
    const Reg base = k.param(Type::u64, "operands");
    const Reg stride = k.param(Type::u32, "stride");
    const Reg results = k.param(Type::u64, "results");
    const Reg stamps = k.param(Type::u64, "stamps");
    const Reg operands = operands_of_lane(k, base, stride);
    const auto shared = load_shared(k, base);
    const auto chains = load_chains(k, operation, shape.chains, operands);
    const auto append = [&](int count) {
        for (int i = 0; i < count; ++i)
            for (const Chain& chain : chains) append_step(k, operation, chain, shared, i);
    };
    append_doubled(k, {.stamps = stamps, .waited = chains.back().odd, .length = shape.length, .append = append});
    store_chains(k, operation, chains, results);
    return k;
}

DoubledChain::DoubledChain(device::Device& device, const TimedOperation& operation, Shape shape)
    : shape_(shape),
      kernel_(device, doubled_chain_kernel(target_of(device), operation, shape),
              doubled_code(operation, shape.length * shape.chains)),
      memory_(device, operands_of(std::vector{LoopPart{operation, 0, shape.chains}})),
      stamps_(device, kMostChainThreads) {}

double DoubledChain::cycles_of_n(int threads) {
    device::Arguments arguments;
    arguments.add(memory_.operands()).add(kStride).add(memory_.results()).add(stamps_.address());
    kernel_.launch({1}, {static_cast<std::uint32_t>(threads)}, arguments);
    return stamps_.cycles_of_n(threads);
}

double DoubledChain::latency() {
    std::vector<double> samples;
    for (int i = 0; i < kTimedLaunches; ++i) samples.push_back(cycles_of_n(1) / shape_.length);
    return summarise(samples).value;
}

double DoubledChain::throughput(int warps, int warp_size) {
    const double operations = static_cast<double>(warps) * warp_size * shape_.length * shape_.chains;
    return operations / cycles_of_n(warps * warp_size);
}

ptx::KernelBuilder chain_loop_kernel(ptx::Target target, std::span<const LoopPart> parts) {
    ptx::KernelBuilder k(loop_name(parts), target);
    const Reg base = k.param(Type::u64, "operands");
    const Reg stride = k.param(Type::u32, "stride");
    const Reg results = k.param(Type::u64, "results");
    const Reg stamps = k.param(Type::u64, "stamps");
    const Reg iterations = k.param(Type::u32, "iterations");
    const Reg operands = operands_of_lane(k, base, stride);
    auto shared = load_shared(k, base);
    if (std::ranges::any_of(parts, [](const LoopPart& part) { return names(part.operation.code, 'm'); }))
        shared.m = k.shared("word", Bytes{4});
    std::vector<std::vector<Chain>> chains;
    int first = 0;
    for (const auto& part : parts) {
        if (part.count % (2 * part.chains) != 0)
            throw std::logic_error("chain_loop_kernel: counts must be even multiples of the chains");
        chains.push_back(load_chains(k, part.operation, part.chains, operands, first));
        first += part.chains;
    }
    const int most = std::ranges::max_element(parts, {}, &LoopPart::count)->count;
    const auto append = [&](int) {
        for (int slot = 0; slot < most; ++slot)
            for (std::size_t p = 0; p < parts.size(); ++p) {
                // Operation number i of a part comes in the i-th of `count` equal pieces of the body.
                const int i = slot * parts[p].count / most;
                if ((slot + 1) * parts[p].count / most == i) continue;
                const int chain = i % parts[p].chains;
                append_step(k, parts[p].operation, chains[p][static_cast<std::size_t>(chain)], shared,
                            i / parts[p].chains);
            }
    };
    append_timed_loop(k, {.stamps = stamps, .waited = chains.front().back().odd, .length = 1, .append = append},
                      iterations);
    first = 0;
    for (std::size_t p = 0; p < parts.size(); first += parts[p++].chains)
        store_chains(k, parts[p].operation, chains[p], results, first);
    return k;
}

ChainLoop::ChainLoop(device::Device& device, std::vector<LoopPart> parts)
    : parts_(std::move(parts)),
      kernel_(device, chain_loop_kernel(target_of(device), parts_), loop_code(parts_)),
      memory_(device, operands_of(parts_)),
      stamps_(device, kMostChainThreads) {}

bool ChainLoop::keeps_idle_loads() const {
    int loads = 0;
    for (const auto& part : parts_) loads += part.operation.name == idle_operation().name ? part.count : 0;
    const auto code = kernel_.module().machine_code();
    return loads == 0 || !code ||
           check_code(code, kernel_.name(), LoopedCode{{"LDS"}, loads}).result == results::CodeResult::passed;
}

double ChainLoop::cycles_of(std::uint32_t iterations, int threads) {
    device::Arguments arguments;
    arguments.add(memory_.operands()).add(kStride).add(memory_.results()).add(stamps_.address()).add(iterations);
    kernel_.launch({1}, {static_cast<std::uint32_t>(threads)}, arguments);
    return stamps_.cycles_of_n(threads);
}

double ChainLoop::cycles_per_iteration(int warps, int warp_size) {
    const int threads = warps * warp_size;
    if (iterations_ == 0)
        iterations_ = static_cast<std::uint32_t>(
            std::clamp(std::ceil(kSteadyCycles / cycles_of(1, threads)), 1.0, kMostIterations));
    return cycles_of(iterations_, threads) / (static_cast<double>(iterations_) * warps);
}

double ChainLoop::throughput(int warps, int warp_size) {
    return warp_size * parts_.front().count / cycles_per_iteration(warps, warp_size);
}

}  // namespace gputomo::measure
