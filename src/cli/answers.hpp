// Prints what launches cost, for the commands that predict and simulate them.
#pragma once

#include "answer/answer.hpp"
#include "capture/capture.hpp"
#include "cli/inputs/launches.hpp"
#include "launch/launch.hpp"
#include "machine/machine.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::cli {

/// Answers a launch. `whole` asks for an answer that is printed as a whole, with what would help.
using Answerer = std::function<answer::Answer(const launch::Launch&, bool whole)>;

inline constexpr const char* kExplainHelp =
    "also print what is assumed: of the launch, and of the GPU where its description leaves values open";

inline constexpr const char* kInstructionsHelp =
    "also print all executed instructions, with what warps wait for at each";

inline constexpr const char* kHtmlHelp =
    "also write the answer as one HTML page: time, roofline, stalls, source lines, memory, advice";

struct PrintOptions {
    bool json = false;
    bool explain = false;       ///< prints what is assumed
    bool instructions = false;  ///< prints all instructions
    /// What simulation assumes of the GPU, whichever launch it is.
    std::vector<std::string> assumed_of_gpu;
    std::string html{};                         ///< file that the page is written to; empty: none
    const machine::Machine* machine = nullptr;  ///< the described GPU, whose ceilings a page shows
};

/// What the options of `predict` and `simulate` ask for. `machine` has to outlive the result.
template <class Options>
[[nodiscard]] PrintOptions print_options_of(const Options& options, std::vector<std::string> assumed_of_gpu,
                                            const machine::Machine& machine) {
    return {.json = options.json,
            .explain = options.explain,
            .instructions = options.instructions,
            .assumed_of_gpu = std::move(assumed_of_gpu),
            .html = options.html,
            .machine = &machine};
}

/// Refuses a page that would replace an input, or that cannot be written: before the answer, which takes long. Throws
/// InputError.
void check_page(const std::string& html, const std::vector<std::string>& inputs);

/// Prints the answer to one launch, as text or JSON. Returns the exit code.
int print_answer(const launch::Launch& launch, const Answerer& answer, const PrintOptions& print);

/// Prints the answers to the named launches of a capture. A lone launch, or each that is asked for by number, has its
/// whole answer. Launches of a kernel that is asked for have a row each, and the longest its whole answer. Others are a
/// table with a row for each kernel. Returns 1 where memory differs from the recorded GPU's, or where a launch fails
/// and others do not.
int print_answers_of_capture(const capture::Capture& captured, const LaunchOptions& options, const Answerer& answer,
                             const PrintOptions& print);

}  // namespace gputomo::cli
