// What an experiment hands on: estimates, traces, checks of its machine code, warnings.
#pragma once

#include "results/estimate.hpp"
#include "results/trace.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::results {

enum class CodeResult : std::uint8_t { passed, failed, unavailable };

/// "passed", "failed" or "unavailable".
[[nodiscard]] std::string_view name_of(CodeResult result);

/// Whether the machine code of one kernel is what its PTX asked for: the driver's compiler may unroll, merge or move
/// instructions.
struct CodeCheck {
    std::string kernel;
    CodeResult result = CodeResult::unavailable;
    std::string expected;  ///< "256 x FADD between the clock reads"
    std::string found;     ///< what the machine code has; for an unavailable result, why it could not be read
    std::string listing;   ///< the disassembled kernel, only where the check failed
};

struct Outcome {
    std::vector<Estimate> estimates;
    std::vector<Trace> traces;
    std::vector<CodeCheck> code_checks;
    std::vector<std::string> warnings;
};

}  // namespace gputomo::results
