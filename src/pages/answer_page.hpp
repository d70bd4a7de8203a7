// An answer as one HTML page that opens offline: what takes the time, ceilings, stalls, source lines, memory, advice.
#pragma once

#include "answer/answer.hpp"
#include "answer/program.hpp"
#include "machine/machine.hpp"

#include <string>
#include <vector>

namespace gputomo::pages {

/// What a page shows beside an answer.
struct PageContext {
    const machine::Machine* machine = nullptr;  ///< gives the ceilings of types that the launch does not use
    std::vector<std::string> assumed_of_gpu{};
    std::string made_by{};  ///< the command and the version that made the page
};

/// The whole page: style sheet, pictures and text in one file, without scripts.
[[nodiscard]] std::string answer_html(const answer::Answer& answer, const PageContext& context);

/// The launches of a capture: a table with a row for each kernel, and below it the longest launch of each.
[[nodiscard]] std::string program_html(const answer::Program& program,
                                       const std::vector<answer::ProgramLaunch>& launches, const PageContext& context);

/// The part that fits a notebook's cell: an element with its own style, without scripts.
[[nodiscard]] std::string compact_html(const answer::Answer& answer);

}  // namespace gputomo::pages
