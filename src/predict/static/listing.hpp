// Parses listings of machine code as cuobjdump -sass and nvdisasm print them, and plain lists of instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::predict {

/// An operand, with the parts that matter for dependencies and costs.
struct ListedOperand {
    enum class Kind : std::uint8_t { reg, predicate, memory, other };
    Kind kind = Kind::other;
    std::string text;
    std::string reg;                ///< "R2", "UR4", "P0", "UP1", or a memory operand's base; empty for RZ, PT and none
    std::vector<std::string> also;  ///< further registers of a memory operand, as in desc[UR4][R2.64]
    bool wide = false;              ///< has the suffix ".64"
};

struct ListedInstruction {
    int line = 0;
    std::optional<std::uint64_t> address;
    std::string guard;                   ///< "P0", "UP2"; empty without one or for PT
    std::string opcode;                  ///< "LDG", "IMAD"
    std::vector<std::string> modifiers;  ///< "E", "64"
    std::vector<ListedOperand> operands;
    std::string text;
};

struct ListedFunction {
    std::string name;  ///< empty for instructions before any function
    std::vector<ListedInstruction> instructions;
    std::map<std::string, std::size_t> labels;  ///< label -> index of the instruction that follows it
};

/// Throws InputError "ORIGIN:LINE: what was found; expected ..." for a line of code that can't be read.
[[nodiscard]] std::vector<ListedFunction> parse_listing(std::string_view text, std::string_view origin = "listing");

/// Whether the text looks like a listing rather than PTX.
[[nodiscard]] bool is_listing(std::string_view text);

}  // namespace gputomo::predict
