// Conversions of one of the two halves of a register.
#include "timed_code.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace gputomo::sim::half_conversions_test {
namespace {

using namespace timed_code;

/// F2F.F32.BF16 R97, R96.H1, as cuBLAS adds the upper one of two biases.
constexpr Word kUpper{0x1000006000617304, 0x020e620000401000};
constexpr std::uint64_t kUpperBit = std::uint64_t{1} << 60;

/// What a thread of number 1 stores for halves of 2.0 and 1.0, the upper one last.
std::uint32_t converted(const Word& conversion) {
    constexpr std::int64_t kHalves = 0x3f804000;
    const Word halves = changed(kOwnResult, [](sass::Instruction& instruction) {
        int registers = 0;
        for (auto& operand : instruction.operand_store) {
            if (operand.kind == sass::OperandKind::immediate) operand.value = kHalves;
            if (operand.kind != sass::OperandKind::reg) continue;
            // R16 = R9 * kHalves + RZ
            constexpr std::uint8_t kRegisters[] = {16, 9, sass::kZeroRegister};
            operand.reg = kRegisters[registers++];
        }
        instruction.control = kLongest;
    });
    const Kernel kernel({halves, with(conversion, {3, 16}, {.stall = 2, .write_barrier = 0}),
                         with(kStore, {}, {.stall = 15, .wait = 1}), with(kExit, {}, {.stall = 5})});
    return kernel.run(h200()).results[1];
}

TEST(HalfConversions, TakeTheHalfThatTheInstructionNames) {
    EXPECT_EQ(sass::text_of(sass::decode(kUpper, 90, 0), 0), "F2F.F32.BF16 R97, R96.H1");
    EXPECT_EQ(converted(kUpper), 0x3f800000U);
    Word lower = kUpper;
    lower.low &= ~kUpperBit;
    EXPECT_EQ(converted(lower), 0x40000000U);
}

}  // namespace
}  // namespace gputomo::sim::half_conversions_test
