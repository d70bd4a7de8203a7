// How often registers of two kinds of instruction share a bank, in machine code from ptxas.
#include "measure/throughput/register_bank_overlap.hpp"

#include "../sass/cubin_files.hpp"

#include <gtest/gtest.h>

namespace gputomo::measure {
namespace {

sass::KernelCode code_of(const std::string& kernel) {
    const auto bytes = sass::cubin_files::read_cubin(kernel + ".sm_90");
    return sass::kernel_code(sass::Cubin(bytes), kernel);
}

TEST(RegisterBankOverlap, IsAQuarterForSpecialFunctionsAndAdds) {
    // The adds are FADD R9, R9, ... 16 of the 64 MUFU read R9 or R11, and 16 write one of them. The others have even
    // registers.
    EXPECT_DOUBLE_EQ(register_bank_overlap(code_of("beside_sfu"), "FADD", "MUFU").value_or(0), 0.25);
}

TEST(RegisterBankOverlap, CountsWideOperandsInBothBanks) {
    EXPECT_DOUBLE_EQ(register_bank_overlap(code_of("beside_global"), "FADD", "LDG").value_or(0), 1);
}

TEST(RegisterBankOverlap, IsNulloptForAMissingInstruction) {
    EXPECT_FALSE(register_bank_overlap(code_of("beside_sfu"), "FADD", "LDG").has_value());
}

}  // namespace
}  // namespace gputomo::measure
