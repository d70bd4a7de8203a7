// What an experiment hands on: estimates, traces, checks of its machine code, warnings.
#pragma once

#include "results/estimate.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::results {

enum class CodeResult : std::uint8_t { passed, failed, unavailable };

/// Machine-code check of one kernel: did the driver compile what was written?
struct CodeCheck {
    std::string kernel;
    CodeResult result = CodeResult::unavailable;
    std::string expected;  ///< "256 x FADD between the clock reads"
    std::string found;     ///< why there is nothing to check, where the result is unavailable
    std::string listing;   ///< only where it failed
};

/// "passed", "failed", "unavailable"
[[nodiscard]] std::string_view name_of(CodeResult result);

struct Outcome {
    std::vector<Estimate> estimates;
    std::vector<Trace> traces;
    std::vector<CodeCheck> code_checks;
    std::vector<std::string> warnings;
};

}  // namespace gputomo::results
