// gputomo-surface-1: throughputs of a workload family, as `gputomo surface` writes them (docs/surface.md).
#pragma once

#include "measure/mix/mix_surface.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace gputomo::scan {

inline constexpr std::string_view kSurfaceSchema = "gputomo-surface-1";

[[nodiscard]] std::string to_json(const measure::MixSurface& surface);
/// Throws InputError naming origin and field.
[[nodiscard]] measure::MixSurface surface_from_json(std::string_view text, std::string_view origin = "surface");
/// Plain or compressed with gzip.
[[nodiscard]] measure::MixSurface load_surface(const std::filesystem::path& file);
/// Compressed where the name ends in .gz.
void save_surface(const measure::MixSurface& surface, const std::filesystem::path& file);

}  // namespace gputomo::scan
