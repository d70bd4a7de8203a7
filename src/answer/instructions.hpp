// The instructions of a launch: how often warps execute each, what they wait for there, and where it comes from.
#pragma once

#include "costs/stalls.hpp"
#include "sass/line_table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::answer {

/// A machine instruction that the launch executes.
struct Instruction {
    std::uint64_t address = 0;  ///< bytes from the kernel's first instruction
    std::string text;
    double executed = 0;  ///< by warps of the whole grid
    /// Cycles of these warps by reason, also those in which they issue it. A profiler's samples are shares of them.
    costs::StallCycles cycles{};
    double share_of_wait = 0;                   ///< of the cycles of all warps, that passed here
    std::optional<std::uint64_t> waits_for{};   ///< address of the instruction whose result it waits for most
    std::optional<sass::SourcePlace> source{};  ///< nullopt where the code does not say
};

/// What the instructions of one source line cost together.
struct LineCost {
    sass::SourceLine at;
    double executed = 0;  ///< instructions of warps
    costs::StallCycles cycles{};
    double share_of_wait = 0;
};

/// Instructions and lines that text and pages show.
inline constexpr std::size_t kShownInstructions = 12;

/// Completes instructions, which have their cycles: shares, and lines where the machine code has any. Returns what is
/// wrong with a damaged table of lines; empty where nothing is.
[[nodiscard]] std::string complete(std::vector<Instruction>& instructions, std::string_view code,
                                   const std::string& kernel);

/// Those with most cycles, at most `most` of them.
[[nodiscard]] std::vector<const Instruction*> costliest(const std::vector<Instruction>& instructions,
                                                        std::size_t most = kShownInstructions);
/// Cycles of all instructions by reason.
[[nodiscard]] costs::StallCycles stalls_of(const std::vector<Instruction>& instructions);
/// By the line that an instruction comes from, not by those that call it. The costliest first; instructions without a
/// line are left out.
[[nodiscard]] std::vector<LineCost> lines_of(const std::vector<Instruction>& instructions);

/// Reasons of the cycles, those with most cycles first. Reasons without any are left out.
[[nodiscard]] std::vector<costs::Stall> by_cycles(const costs::StallCycles& cycles);

/// The reason with most cycles besides issuing; nullopt where there is no other.
[[nodiscard]] std::optional<costs::Stall> main_stall(const costs::StallCycles& cycles);

}  // namespace gputomo::answer
