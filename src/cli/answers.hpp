// Prints what launches cost, for the commands that predict and simulate them.
#pragma once

#include "answer/answer.hpp"
#include "capture/capture.hpp"
#include "cli/inputs/launches.hpp"
#include "launch/launch.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gputomo::cli {

/// Answers a launch. `whole` asks for an answer that is printed as a whole, with what would help.
using Answerer = std::function<answer::Answer(const launch::Launch&, bool whole)>;

inline constexpr const char* kExplainHelp =
    "also print what is assumed: of the launch, and of the GPU where its description leaves values open";

struct PrintOptions {
    bool json = false;
    bool explain = false;  ///< prints what is assumed
    /// What simulation assumes of the GPU, whichever launch it is.
    std::vector<std::string> assumed_of_gpu;
};

/// Prints the answer to one launch, as text or JSON. Returns the exit code.
int print_answer(const launch::Launch& launch, const Answerer& answer, const PrintOptions& print);

/// Prints the answers to the named launches of a capture. A lone launch, or each that is asked for by number, has its
/// whole answer. Launches of a kernel that is asked for have a row each, and the longest its whole answer. Others are a
/// table with a row for each kernel. Returns 1 where memory differs from the recorded GPU's, or where a launch fails
/// and others do not.
int print_answers_of_capture(const capture::Capture& captured, const LaunchOptions& options, const Answerer& answer,
                             const PrintOptions& print);

}  // namespace gputomo::cli
