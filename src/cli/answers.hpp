// Prints what launches cost, for the commands that predict and simulate them.
#pragma once

#include "answer/answer.hpp"
#include "capture/capture.hpp"
#include "cli/inputs/launches.hpp"
#include "launch/launch.hpp"

#include <functional>

namespace gputomo::cli {

using Answerer = std::function<answer::Answer(const launch::Launch&)>;

/// Prints the answer to one launch, as text or JSON. Returns the exit code.
int print_answer(const launch::Launch& launch, const Answerer& answer, bool json);

/// Prints the answers to the named launches of a capture, one after another. Returns 1 where memory differs from the
/// recorded GPU's, or where a launch fails and others do not.
int print_answers_of_capture(const capture::Capture& captured, const LaunchOptions& options, const Answerer& answer,
                             bool json);

}  // namespace gputomo::cli
