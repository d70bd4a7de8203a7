// Machines that a command line names.
#pragma once

#include "machine/machine.hpp"

#include <string>
#include <string_view>

namespace gputomo::cli {

/// What a file holds, uncompressed. Throws InputError with what was expected where it can't be read.
[[nodiscard]] std::string content_of(const std::string& file, std::string_view expected);
/// What the content says that it is; empty where it says nothing. The readers complain of what is no JSON.
[[nodiscard]] std::string schema_of(const std::string& content);
/// A machine description, or what a scan.json found, compressed with gzip or not; or a machine that is built in
/// ("sim:gtx280").
[[nodiscard]] machine::Machine machine_named(const std::string& name);

}  // namespace gputomo::cli
