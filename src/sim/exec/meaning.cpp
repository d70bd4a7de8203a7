#include "sim/exec/meaning.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace gputomo::sim {
namespace {

using ptx::Opcode;
using ptx::Type;

/// Modifiers that need no row of their own: the default rounding, flags and comparisons in Operation, and
/// approximations. The simulator computes approximations to the nearest value of the host's library.
constexpr std::string_view kWithoutRows[] = {"rn", "approx", "full", "ftz", "uni"};
constexpr std::string_view kComparisonModifiers[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",
                                                     "ls",  "hi",  "hs",  "equ", "neu", "ltu", "leu",
                                                     "gtu", "geu", "num", "nan", "and", "or",  "xor"};

bool contains(std::span<const std::string_view> list, std::string_view what) {
    return std::find(list.begin(), list.end(), what) != list.end();
}

/// Whether this modifier is part of the row ("l.wrap") or needs no row of its own.
bool handled(const ptx::Instruction& instruction, std::string_view row, std::string_view modifier) {
    const bool is_float = instruction.type == Type::f32 || instruction.type == Type::f64;
    if (contains(kWithoutRows, modifier) || (modifier == "sat" && is_float)) return true;
    if ((instruction.opcode == Opcode::setp || instruction.opcode == Opcode::set) &&
        contains(kComparisonModifiers, modifier))
        return true;
    for (std::size_t at = 0; at <= row.size();) {
        const auto dot = std::min(row.find('.', at), row.size());
        if (row.substr(at, dot - at) == modifier) return true;
        at = dot + 1;
    }
    return false;
}

bool has_all(const ptx::Instruction& instruction, std::string_view modifiers) {
    while (!modifiers.empty()) {
        const auto dot = modifiers.find('.');
        if (!instruction.has(modifiers.substr(0, dot))) return false;
        modifiers = dot == std::string_view::npos ? std::string_view{} : modifiers.substr(dot + 1);
    }
    return true;
}

}  // namespace

ExecuteFunction meaning_of(const ptx::Instruction& instruction) {
    if (instruction.opcode == Opcode::slct) return selection_by_sign_of(instruction);
    if (instruction.opcode == Opcode::isspacep) return space_test_of(instruction);
    // Several rows may match: the one with most modifiers counts, so that mad.hi.sat is "hi.sat" and not "hi".
    const Meaning* best = nullptr;
    for (const auto& rows :
         {arithmetic_meanings(), extended_integer_meanings(), bit_meanings(), comparison_meanings(), move_meanings()})
        for (const auto& row : rows)
            if (row.opcode == instruction.opcode && row.type == instruction.type &&
                (row.source_type == Type::none || row.source_type == instruction.source_type) &&
                has_all(instruction, row.modifiers) &&
                (best == nullptr || row.modifiers.size() > best->modifiers.size()))
                best = &row;
    if (best == nullptr) return nullptr;
    return std::ranges::all_of(
               instruction.modifiers,
               [&](const std::string& modifier) { return handled(instruction, best->modifiers, modifier); })
               ? best->execute
               : nullptr;
}

}  // namespace gputomo::sim
