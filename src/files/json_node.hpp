// One value of a JSON file together with its path in the file, so that every error names the field.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gputomo::files {

using Json = nlohmann::ordered_json;

/// The accessors throw InputError "PATH: found ...; expected ..." when the value has another type.
class JsonNode {
public:
    JsonNode(const Json& json, std::string path) : json_(&json), path_(std::move(path)) {}

    [[nodiscard]] const Json& json() const { return *json_; }

    /// Throws InputError "PATH: found ...; expected EXPECTED".
    [[noreturn]] void fail(std::string_view expected) const;

    /// A member that must be there.
    [[nodiscard]] JsonNode at(const std::string& name) const;
    /// A member that may be missing.
    [[nodiscard]] std::optional<JsonNode> find(const std::string& name) const;
    /// The elements of a list.
    [[nodiscard]] std::vector<JsonNode> elements() const;

    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool flag() const;
    [[nodiscard]] double number() const;
    /// A whole number that is not negative.
    [[nodiscard]] std::uint64_t natural() const;
    /// A list of strings.
    [[nodiscard]] std::vector<std::string> texts() const;
    /// A list of numbers. JSON has no NaN and no infinity: both are written as null and read back as NaN.
    [[nodiscard]] std::vector<double> samples() const;

private:
    [[nodiscard]] std::string member_path(std::string_view name) const;

    const Json* json_;
    std::string path_;
};

}  // namespace gputomo::files
