// Puts what a launch costs on several described GPUs side by side.
#pragma once

#include "answer/answer.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gputomo::cli {

/// The names in "a100,h100,h200"; one name where the text names a file.
[[nodiscard]] std::vector<std::string> machine_names(const std::string& text);

/// The answers to all launches on one GPU. Throws Error where it has none.
using AnswersOn = std::function<std::vector<answer::Answer>(const std::string& machine)>;

/// Prints a row for each GPU: the time of all launches together, and how much faster or slower that is than on the
/// first one that answers. A GPU that refuses them has the reason. Returns the exit code, which is 1 where none
/// answers.
int print_machines_beside(const std::vector<std::string>& machines, const AnswersOn& answers, bool json);

}  // namespace gputomo::cli
