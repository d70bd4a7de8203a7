// On the simulated GPU every timed operation computes what the PTX manual says: one step of its chain with known
// operands.
#include "machine/json.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/throughput/chain_code.hpp"
#include "ptx/names.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <memory>

namespace gputomo::measure {
namespace {

/// A GTX 280 that claims to have all instructions, or those that later compute capabilities removed.
std::unique_ptr<sim::SimulatedDevice> device_of(int major, int minor) {
    auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx280.json");
    machine.identity.compute_capability_major.value = major;
    machine.identity.compute_capability_minor.value = minor;
    return sim::make_device(machine, {.id = "sim:values"});
}

/// The result of a step as bits, from a = the last and b = the older result.
std::uint64_t step(device::Device& device, const TimedOperation& operation) {
    ptx::KernelBuilder k("step", target_of(device));
    const auto operands = k.param(ptx::Type::u64, "operands");
    const auto results = k.param(ptx::Type::u64, "results");
    const auto shared = load_shared(k, operands);
    const auto chains = load_chains(k, operation, 1, operands);
    append_step(k, operation, chains.front(), shared, 0);
    store_chains(k, operation, chains, results);
    CompiledKernel kernel(device, k);
    auto values = shared_values();
    for (const auto value : initial_operands(operation, 1)) values.push_back(value);
    device::Buffer buffer(device, Bytes{static_cast<std::int64_t>(16 * values.size())});
    buffer.write(std::vector<std::uint64_t>(2 * values.size(), 0));
    buffer.write(values);
    device::Arguments arguments;
    arguments.add(buffer.address()).add(buffer.address() + 8 * values.size());
    kernel.launch({1}, {32}, arguments);
    return buffer.read<std::uint64_t>(2 * values.size())[values.size() + 2];
}

// Integers: a = 5, b = 3, x = 5, y = 12, p is true. Floating point: a = 1.125, b = 1. Half precision: the bits 5 and
// 3, which are subnormal.
constexpr std::uint64_t kMinusTwo = 0xFFFFFFFE;
const std::map<std::string_view, std::uint64_t> kIntegers{
    {"add.s32", 8},
    {"add.u32", 8},
    {"sub.u32", kMinusTwo},
    {"sub.s32", kMinusTwo},
    {"mul.lo.s32", 15},
    {"mul.lo.u32", 15},
    {"mad.lo.s32", 18},
    {"mad.lo.u32", 18},
    {"min.u32", 3},
    {"min.s32", 3},
    {"max.u32", 5},
    {"max.s32", 5},
    {"div.u32", 1},
    {"div.s32", 1},
    {"rem.u32", 2},
    {"rem.s32", 2},
    {"and.b32", 1},
    {"or.b32", 7},
    {"xor.b32", 6},
    {"shl.b32", 96},
    {"shr.u32", 0},
    {"mul24.lo.u32", 15},
    {"mul24.lo.s32", 15},
    {"sad.u32", 5},
    {"sad.s32", 5},
    {"mul.hi.u32", 0},
    {"mul.hi.s32", 0},
    {"lop3.b32", (5 & 3) | ((5 | 3) & 0x5A5A1234)},
    {"shf.l.wrap.b32", 3 << 7},
    {"prmt.b32", 0x00030005},
    {"bfe.u32", 0},
    {"bfi.b32", (5 << 5) | 3},
    {"brev.b32", 0x10000000},
    {"popc.b32", 2},
    {"clz.b32", 29},
    {"bfind.u32", 2},
    {"setp.lt.s32:selp.b32", 3},
    {"mad.wide.u32", 63},
    {"mad.hi.u32", 3},
    {"add.s64", 8},
    {"mul.lo.s64", 15},
    {"div.u64", 1},
    {"min.s64", 3},
    {"shl.b64", 160},
    {"add.sat.s32", 8},
    {"abs.s32", 2},
    {"dp4a.s32.s32", 18},
    {"dp2a.lo.s32.s32", 18},
    {"fma.rn.f16", 3},
    {"add.f16", 8},
    {"mul.f16", 0},
    {"fma.rn.f16x2", 3},
    {"add.f16x2", 8},
    {"mul.f16x2", 0},
    {"min.f16x2", 3},
    {"fma.rn.bf16", 3},
    {"fma.rn.bf16x2", 3},
    {"add.bf16x2", 8},
    {"mul.bf16x2", 0},
    {"tanh.approx.f16x2", 5},
    {"ex2.approx.f16x2", 0x3C003C00},
    {"cvt.rn.f32.s32", 0x40A00000},
    {"cvt.rzi.s32.f32", 0},
    {"cvt.rn.f64.s64", 0x4014000000000000},
    {"cvt.rzi.s64.f64", 0},
    {"shfl.bfly.b32", 5},
    {"shfl.sync.bfly.b32", 5},
    {"shfl.sync.idx.b32", 5},
    {"setp.ne.b32:vote.sync.ballot.b32", 0},
    {"match.any.sync.b32", 0xFFFFFFFF},
    {"redux.sync.add.u32", 160},
    {"redux.sync.and.b32", 8},
};
const double kA = 1.125;
const std::map<std::string_view, double> kReals{
    {"add.f32", 2.125},
    {"sub.f32", 0.125},
    {"mul.f32", kA},
    {"fma.rn.f32", 2.125},
    {"min.f32", 1},
    {"max.f32", kA},
    {"add.f64", 2.125},
    {"sub.f64", 0.125},
    {"mul.f64", kA},
    {"fma.rn.f64", 2.125},
    {"min.f64", 1},
    {"max.f64", kA},
    {"div.full.f32", kA},
    {"div.rn.f64", kA},
    {"add.rn.f32", 2.125},
    {"add.rz.f32", 2.125},
    {"mul.rn.f32", kA},
    {"mul.rz.f32", kA},
    {"div.approx.f32", 1 / kA},
    {"add.rn.f64", 2.125},
    {"sin.approx.f32", std::sin(kA)},
    {"cos.approx.f32", std::cos(kA)},
    {"ex2.approx.f32", std::exp2(kA)},
    {"lg2.approx.f32", std::log2(kA)},
    {"sqrt.approx.f32", std::sqrt(kA)},
    {"rcp.approx.f32", 1 / kA},
    {"rsqrt.approx.f32", 1 / std::sqrt(kA)},
    {"__tanf", std::tan(kA)},
    {"__expf", std::exp(kA)},
    {"__exp10f", std::pow(10, kA)},
    {"__logf", std::log(kA)},
    {"__log10f", std::log10(kA)},
    {"__powf", 1},
    {"rcp.rn.f32", 1 / kA},
    {"sqrt.rn.f32", std::sqrt(kA)},
    {"div.rn.f32", kA},
    {"rcp.rn.f64", 1 / kA},
    {"sqrt.rn.f64", std::sqrt(kA)},
    {"tanh.approx.f32", std::tanh(kA)},
    {"ex2.approx.ftz.f32", std::exp2(kA)},
    {"sin.approx.ftz.f32", std::sin(kA)},
    {"setp.lt.f32:selp.f32", 1},
    {"cvt.rni.f32.f32", 2},
};

void expect_value(device::Device& device, const TimedOperation& operation) {
    const std::uint64_t bits = step(device, operation);
    if (const auto integer = kIntegers.find(operation.name); integer != kIntegers.end()) {
        EXPECT_EQ(bits, integer->second) << operation.name;
        return;
    }
    const auto real = kReals.find(operation.name);
    ASSERT_NE(real, kReals.end()) << operation.name << " has no value in this test";
    const bool twice = operation.type == ptx::Type::f64;
    const double value = twice ? std::bit_cast<double>(bits)
                               : static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    EXPECT_NEAR(value, real->second, (twice ? 1e-15 : 1e-6) * std::abs(real->second)) << operation.name;
}

TEST(OperationValues, MatchThePtxManual) {
    const auto device = device_of(9, 0), before_lop3 = device_of(3, 5);
    for (const auto& operation : all_operations())
        expect_value(operation.until_sm < 90 ? *before_lop3 : *device, operation);
}

TEST(OperationValues, ChainsAlternateTheirRegisters) {
    const auto device = device_of(9, 0);
    const auto& add = all_operations()[0];
    ptx::KernelBuilder k("two", target_of(*device));
    const Chain chain{k.reg(add.type), k.reg(add.type), {}};
    const SharedOperands none{};
    append_step(k, add, chain, none, 0);
    append_step(k, add, chain, none, 1);
    const auto body = k.build().kernels.at(0).body;
    EXPECT_TRUE(ptx::equivalent(body[1].sources[0], body[0].destinations[0]));
    EXPECT_TRUE(ptx::equivalent(body[1].destinations[0], body[0].sources[0]));
}

}  // namespace
}  // namespace gputomo::measure
