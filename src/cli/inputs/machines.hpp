// Reads the machine description that a command line names.
#pragma once

#include "machine/machine.hpp"

#include <string>
#include <string_view>

namespace gputomo::cli {

/// The content of a file, decompressed where it is gzip. Throws InputError with `expected` where it cannot be read.
[[nodiscard]] std::string content_of(const std::string& file, std::string_view expected);
/// The "schema" member of JSON text; empty where there is none or the text is no JSON, which its reader then reports.
[[nodiscard]] std::string schema_of(const std::string& content);
/// Reads a machine description or a scan.json, compressed with gzip or not, or returns the built-in description of
/// "sim:NAME". Throws InputError.
[[nodiscard]] machine::Machine machine_named(const std::string& name);

}  // namespace gputomo::cli
