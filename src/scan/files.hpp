// Reads and writes scan.json, which holds everything that a scan measured, and writes result files safely.
#pragma once

#include "scan/runner.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace gputomo::scan {

inline constexpr std::string_view kScanSchema = "gputomo-scan-1";

[[nodiscard]] std::string to_json(const Scan& scan);
/// Throws InputError naming `origin`, the name of the file, and the field.
[[nodiscard]] Scan scan_from_json(std::string_view text, std::string_view origin = "scan");
[[nodiscard]] Scan load_scan(const std::filesystem::path& file);

/// Writes a temporary file and renames it, so that the file is complete or not there. A device such as /dev/stdout is
/// written directly. Throws InputError naming the file.
void write_file(const std::filesystem::path& file, std::string_view content);
/// Creates the folder and tries to write in it, so that a scan fails before it measures anything. Throws InputError
/// naming the folder.
void check_writable(const std::filesystem::path& folder);
/// Tries to write beside the file and leaves its content alone. Throws InputError naming the file.
void check_writable_file(const std::filesystem::path& file);

}  // namespace gputomo::scan
