// Translates a machine description for other programs. Each format has one file and one row in the catalogue.
#pragma once

#include "machine/machine.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gputomo::exports {

struct Format {
    std::string_view name;   ///< NAME of `gputomo export --to NAME`
    std::string_view title;  ///< one line for --help
    std::string (*text)(const machine::Machine& machine);
};

[[nodiscard]] std::span<const Format> catalogue();

/// Writes options of Accel-Sim, those of gpgpusim.config and trace.config in one file. Comments above an option say
/// from which leaves it is, where they were measured or cited, and what is deduced or assumed. An option that needs an
/// unknown leaf is left out, and a comment names that leaf.
[[nodiscard]] std::string accel_sim(const machine::Machine& machine);
/// Writes those of them that GPGPU-Sim, which executes PTX, knows.
[[nodiscard]] std::string gpgpu_sim(const machine::Machine& machine);

/// Writes one JSON object, path -> {value, unit, knowledge, ...}, for programs that do not want to walk sections.
[[nodiscard]] std::string flat_json(const machine::Machine& machine);

/// Writes the hardware file of LLMCompass. Its reader ignores `_origin`, which says where each field is from.
[[nodiscard]] std::string llmcompass(const machine::Machine& machine);

/// Writes the fields by which TileLang's carver knows a GPU, as JSON, with their origin.
[[nodiscard]] std::string tilelang(const machine::Machine& machine);

/// Writes ceilings of compute and memory as JSON: name, unit, value and origin of each that is known.
[[nodiscard]] std::string roofline(const machine::Machine& machine);

/// Writes CSV (RFC 4180) with one row per leaf: path, knowledge, value, unit, low, high, confidence, source or method.
[[nodiscard]] std::string csv(const machine::Machine& machine);

}  // namespace gputomo::exports
