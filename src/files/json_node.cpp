#include "files/json_node.hpp"

#include "units/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace gputomo::files {

void JsonNode::fail(std::string_view expected) const {
    const std::string found =
        json_->is_structured() ? json_->type_name() : json_->dump(-1, ' ', false, Json::error_handler_t::replace);
    throw InputError(fmt::format("{}: found {}; expected {}", path_.empty() ? "the file" : path_, found, expected));
}

JsonNode JsonNode::at(const std::string& name) const {
    auto member = find(name);
    if (!member) throw InputError(fmt::format("{}: missing; expected this field", member_path(name)));
    return *std::move(member);
}

std::optional<JsonNode> JsonNode::find(const std::string& name) const {
    if (!json_->is_object()) fail("an object");
    const auto member = json_->find(name);
    if (member == json_->end()) return std::nullopt;
    return JsonNode(*member, member_path(name));
}

std::vector<JsonNode> JsonNode::elements() const {
    if (!json_->is_array()) fail("a list");
    std::vector<JsonNode> nodes;
    nodes.reserve(json_->size());
    for (const auto& element : *json_) nodes.emplace_back(element, fmt::format("{}[{}]", path_, nodes.size()));
    return nodes;
}

std::string JsonNode::text() const {
    if (!json_->is_string()) fail("a string");
    return json_->get<std::string>();
}

bool JsonNode::flag() const {
    if (!json_->is_boolean()) fail("true or false");
    return json_->get<bool>();
}

double JsonNode::number() const {
    if (!json_->is_number()) fail("a number");
    return json_->get<double>();
}

std::uint64_t JsonNode::natural() const {
    if (!json_->is_number_unsigned()) fail("a whole number that is not negative");
    return json_->get<std::uint64_t>();
}

std::vector<std::string> JsonNode::texts() const {
    std::vector<std::string> all;
    for (const auto& element : elements()) all.push_back(element.text());
    return all;
}

std::vector<double> JsonNode::samples() const {
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

std::string JsonNode::member_path(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

}  // namespace gputomo::files
