// One value of a JSON file together with its path in the file, so that every error names the field.
#pragma once

#include "units/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gputomo::scan {

using Json = nlohmann::ordered_json;

/// The accessors throw InputError "PATH: found ...; expected ..." when the value has another type.
class JsonNode {
public:
    JsonNode(const Json& json, std::string path) : json_(&json), path_(std::move(path)) {}

    [[nodiscard]] const Json& json() const { return *json_; }

    /// Throws InputError "PATH: found ...; expected EXPECTED".
    [[noreturn]] void fail(std::string_view expected) const {
        const std::string found =
            json_->is_structured() ? json_->type_name() : json_->dump(-1, ' ', false, Json::error_handler_t::replace);
        throw InputError(fmt::format("{}: found {}; expected {}", path_.empty() ? "the file" : path_, found, expected));
    }

    /// A member that must be there.
    [[nodiscard]] JsonNode at(const std::string& name) const {
        auto member = find(name);
        if (!member) throw InputError(fmt::format("{}: missing; expected this field", member_path(name)));
        return *std::move(member);
    }

    /// A member that may be missing.
    [[nodiscard]] std::optional<JsonNode> find(const std::string& name) const {
        if (!json_->is_object()) fail("an object");
        const auto member = json_->find(name);
        if (member == json_->end()) return std::nullopt;
        return JsonNode(*member, member_path(name));
    }

    /// The elements of a list.
    [[nodiscard]] std::vector<JsonNode> elements() const {
        if (!json_->is_array()) fail("a list");
        std::vector<JsonNode> nodes;
        nodes.reserve(json_->size());
        for (const auto& element : *json_) nodes.emplace_back(element, fmt::format("{}[{}]", path_, nodes.size()));
        return nodes;
    }

    [[nodiscard]] std::string text() const {
        if (!json_->is_string()) fail("a string");
        return json_->get<std::string>();
    }
    [[nodiscard]] bool flag() const {
        if (!json_->is_boolean()) fail("true or false");
        return json_->get<bool>();
    }
    [[nodiscard]] double number() const {
        if (!json_->is_number()) fail("a number");
        return json_->get<double>();
    }
    [[nodiscard]] std::uint64_t natural() const {
        if (!json_->is_number_unsigned()) fail("a whole number that is not negative");
        return json_->get<std::uint64_t>();
    }
    [[nodiscard]] std::vector<std::string> texts() const {
        std::vector<std::string> all;
        for (const auto& element : elements()) all.push_back(element.text());
        return all;
    }
    /// A list of numbers. JSON has no NaN and no infinity: both are written as null and read back as NaN.
    [[nodiscard]] std::vector<double> samples() const {
        if (!json_->is_array()) fail("a list of numbers");
        std::vector<double> all;
        all.reserve(json_->size());
        for (const auto& element : *json_) {
            if (!element.is_number() && !element.is_null())
                JsonNode(element, fmt::format("{}[{}]", path_, all.size())).fail("a number or null");
            all.push_back(element.is_null() ? std::numeric_limits<double>::quiet_NaN() : element.get<double>());
        }
        return all;
    }

private:
    [[nodiscard]] std::string member_path(std::string_view name) const {
        return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
    }

    const Json* json_;
    std::string path_;
};

}  // namespace gputomo::scan
