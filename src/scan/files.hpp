// Reads and writes scan.json, which holds everything that a scan measured.
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

}  // namespace gputomo::scan
