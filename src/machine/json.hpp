// Machine descriptions as JSON text and files; docs/machine.schema.json is the same format as a schema.
#pragma once

#include "machine/machine.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace gputomo::machine {

/// Value of the top-level `schema` field.
inline constexpr std::string_view kSchemaName = "gputomo-machine-1";

/// Reads and validates a description. `origin` (a file name) starts error messages.
/// Throws InputError: "ORIGIN: FIELD: what is wrong; expected ...".
[[nodiscard]] Machine from_json(std::string_view text, std::string_view origin = "machine");

/// Indented JSON; leaves that are Knowledge::unknown are left out.
[[nodiscard]] std::string to_json(const Machine& machine);

/// Throws InputError when the file cannot be read, is not JSON, or is not a valid description.
[[nodiscard]] Machine load(const std::filesystem::path& file);
void save(const Machine& machine, const std::filesystem::path& file);

/// Checks that leaves agree with each other (sizes that multiply, names that exist). Throws InputError naming the
/// field.
void validate(const Machine& machine, std::string_view origin = "machine");

/// JSON Schema (draft 2020-12) of the format, made from the fields() lists.
[[nodiscard]] std::string json_schema();

[[nodiscard]] std::string_view unit_name(Unit unit);

}  // namespace gputomo::machine
