// Reads and writes gputomo-surface-1 files: the throughputs of a workload family that `gputomo surface` measures
// (docs/surface.md).
#pragma once

#include "measure/mix/mix_surface.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace gputomo::scan {

inline constexpr std::string_view kSurfaceSchema = "gputomo-surface-1";

[[nodiscard]] std::string to_json(const measure::MixSurface& surface);
/// Throws InputError naming `origin`, the name of the file, and the field.
[[nodiscard]] measure::MixSurface surface_from_json(std::string_view text, std::string_view origin = "surface");
/// Reads a file, which may be compressed with gzip. Throws InputError naming the file and the field.
[[nodiscard]] measure::MixSurface load_surface(const std::filesystem::path& file);
/// Writes a file, compressed with gzip if its name ends in .gz. Throws InputError naming the file.
void save_surface(const measure::MixSurface& surface, const std::filesystem::path& file);

}  // namespace gputomo::scan
