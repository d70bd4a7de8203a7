// The member "origin" of JSON outputs: where and when they were made.
#pragma once

#include "results/origin.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string_view>

namespace gputomo::machine {

inline constexpr std::string_view kOriginMember = "origin";

[[nodiscard]] nlohmann::ordered_json origin_json(const results::Origin& origin);
/// Reads the member. Members of other names are ignored, since a newer gputomo may write them. Throws InputError
/// "PATH.FIELD: found ...; expected ..." with `path`, which may start with the name of the file.
[[nodiscard]] results::Origin origin_from(const nlohmann::ordered_json& json, std::string_view path);

/// Appends the member to a JSON object.
void add_origin(nlohmann::ordered_json& json, const results::Origin& origin);

/// The JSON Schema of the member.
[[nodiscard]] nlohmann::ordered_json origin_schema();

}  // namespace gputomo::machine
