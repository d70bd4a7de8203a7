// Reads the machine description that a command line names.
#pragma once

#include "machine/machine.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gputomo::cli {

/// The content of a file, decompressed where it is gzip. Warns on standard error where it does not fit the manifest
/// that lists it. Throws InputError with `expected` where it cannot be read, or standard output goes to that file.
[[nodiscard]] std::string content_of(const std::string& file, std::string_view expected);
/// The files that names of machines or devices on the command line refer to: FILE for "sim:FILE" and for FILE itself.
/// Names of other things are files that do not exist.
[[nodiscard]] std::vector<std::string> files_of(const std::vector<std::string>& names);
/// The "schema" member of JSON text; empty where there is none or the text is no JSON, which its reader then reports.
[[nodiscard]] std::string schema_of(const std::string& content);
/// Reads a machine description or a scan.json, compressed with gzip or not. Throws InputError.
[[nodiscard]] machine::Machine machine_in(const std::string& file);
/// Reads such a file, or returns the built-in description of "sim:NAME", or of NAME where no file has that name. Throws
/// InputError.
[[nodiscard]] machine::Machine machine_named(const std::string& name);

}  // namespace gputomo::cli
