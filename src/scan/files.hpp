// scan.json: everything a scan measured, and back.
#pragma once

#include "scan/runner.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace gputomo::scan {

inline constexpr std::string_view kScanSchema = "gputomo-scan-1";

[[nodiscard]] std::string to_json(const Scan& scan);
/// Throws InputError naming origin and field.
[[nodiscard]] Scan scan_from_json(std::string_view text, std::string_view origin = "scan");
[[nodiscard]] Scan load_scan(const std::filesystem::path& file);

/// Writes by way of a temporary file, so that a file is whole or not there; to a device (/dev/stdout) directly. Throws
/// InputError naming the file.
void write_file(const std::filesystem::path& file, std::string_view content);
/// Makes the folder and tries to write there, before anything is measured. Throws InputError naming it.
void check_writable(const std::filesystem::path& folder);
/// Tries to write beside the file, leaving what it holds. Throws InputError naming it.
void check_writable_file(const std::filesystem::path& file);

}  // namespace gputomo::scan
