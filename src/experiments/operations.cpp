#include "experiments/operations.hpp"

#include "ptx/names.hpp"

#include <array>
#include <bit>
#include <stdexcept>

namespace gputomo::experiments {
namespace {

using ptx::Type;
constexpr std::array kOperations = {
    // Compilers alternate between the adder and the multiplier, which share the work.
    TimedOperation{"add.s32", Type::s32, 2, "IADD3|IMAD|VIADD"},
    TimedOperation{"mul.lo.s32", Type::s32, 2, "IMAD"},
    TimedOperation{"mad.lo.s32", Type::s32, 3, "IMAD"},
    TimedOperation{"add.f32", Type::f32, 2, "FADD"},
    TimedOperation{"mul.f32", Type::f32, 2, "FMUL"},
    TimedOperation{"fma.rn.f32", Type::f32, 3, "FFMA"},
    TimedOperation{"add.f64", Type::f64, 2, "DADD"},
    TimedOperation{"mul.f64", Type::f64, 2, "DMUL"},
    TimedOperation{"fma.rn.f64", Type::f64, 3, "DFMA"},
    // A comparison and two products, with which denormals are scaled.
    TimedOperation{"rsqrt.approx.f32", Type::f32, 1, "MUFU", 3},
};

/// next = operation(last, next): the destination is the older of the two results.
void append_step(ptx::KernelBuilder& kernel, const TimedOperation& operation, ptx::Reg last, ptx::Reg next) {
    switch (operation.sources) {
        case 1: return kernel(operation.mnemonic, next, last);
        case 2: return kernel(operation.mnemonic, next, last, next);
        case 3: return kernel(operation.mnemonic, next, last, next, next);
        default: throw std::logic_error("append_step: an operation reads 1, 2 or 3 operands");
    }
}

}  // namespace

std::span<const TimedOperation> timed_operations() { return kOperations; }

std::vector<TimedPipeline> timed_pipelines(const ptx::Target& target) {
    const TimedOperation rsqrt{target.sm >= 20 ? "rsqrt.approx.ftz.f32" : "rsqrt.approx.f32", Type::f32, 1, "MUFU"};
    return {{"sp", {"add.f32", Type::f32, 2, "FADD"}}, {"sfu", rsqrt}, {"dpu", {"add.f64", Type::f64, 2, "DADD"}}};
}

void append_chains(ptx::KernelBuilder& kernel, const TimedOperation& operation, std::span<const Chain> chains, int count) {
    if (count % 2 != 0) throw std::logic_error("append_chains: the count must be even");
    for (int i = 0; i < count; ++i)
        for (const Chain& chain : chains)
            append_step(kernel, operation, i % 2 == 0 ? chain.odd : chain.even, i % 2 == 0 ? chain.even : chain.odd);
}

std::vector<std::uint64_t> initial_operands(const TimedOperation& operation, int chains) {
    std::vector<std::uint64_t> bits;
    for (int i = 0; i < 2 * chains; ++i) {
        const double value = 1.0 + 0.125 * i;
        if (operation.type == Type::f64) bits.push_back(std::bit_cast<std::uint64_t>(value));
        else if (operation.type == Type::f32) bits.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
        else bits.push_back(static_cast<std::uint64_t>(2 * i + 3));
    }
    return bits;
}

}  // namespace gputomo::experiments
