// Reads, writes and checks machine descriptions as JSON. docs/machine.schema.json describes the format.
#pragma once

#include "machine/machine.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace gputomo::machine {

/// The value of the top-level field `schema`, which names the version of the format.
inline constexpr std::string_view kSchemaName = "gputomo-machine-1";

/// Reads and validates a description. Throws InputError "ORIGIN: FIELD: found ...; expected ..."; `origin` is the name
/// of the file.
[[nodiscard]] Machine from_json(std::string_view text, std::string_view origin = "machine");

/// Indented JSON with one line per leaf. Leaves that are Knowledge::unknown are left out.
[[nodiscard]] std::string to_json(const Machine& machine);

/// Reads a file. Throws InputError when it cannot be read, is not JSON, or is not a valid description.
[[nodiscard]] Machine load(const std::filesystem::path& file);

/// Checks that leaves agree with each other: sizes multiply to the capacity, names of caches and pipelines exist,
/// ranges are in order. Throws InputError naming the field.
void validate(const Machine& machine, std::string_view origin = "machine");

/// The JSON Schema (draft 2020-12) of the format, made from the fields() lists.
[[nodiscard]] std::string json_schema();

/// The spelling of a unit in JSON: "bytes/cycle"; empty for Unit::none.
[[nodiscard]] std::string_view unit_name(Unit unit);

}  // namespace gputomo::machine
