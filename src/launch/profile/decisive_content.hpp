// Whether memory with made-up content decides what a launch executes.
#pragma once

#include "launch/launch.hpp"
#include "machine/machine.hpp"

#include <optional>
#include <string>

namespace gputomo::launch {

/// Executes the first and the middle block with the launch's memory, and again with other numbers where its content is
/// made up. Threads may ask what the machine has. Returns what differs, in words; nullopt where nothing does, where all
/// content was given, and where the launch cannot be executed block by block. Throws InputError where the launch does
/// not fit its code.
[[nodiscard]] std::optional<std::string> decisive_content(const Launch& launch, const machine::Machine& machine);

}  // namespace gputomo::launch
