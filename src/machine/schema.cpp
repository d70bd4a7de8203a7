// Makes the JSON Schema of machine descriptions from the fields() lists.
#include "machine/json.hpp"
#include "machine/origin_json.hpp"

#include <nlohmann/json.hpp>

#include <type_traits>

namespace gputomo::machine {
namespace {

using Json = nlohmann::ordered_json;

/// The schema of a value of type T. Numbers are never negative.
template <class T>
Json value_schema(const FieldInfo& info) {
    if constexpr (std::is_same_v<T, std::int64_t>)
        return {{"type", "integer"}, {"minimum", 0}};
    else if constexpr (std::is_same_v<T, double>)
        return {{"type", "number"}, {"minimum", 0}};
    else if constexpr (std::is_same_v<T, bool>)
        return {{"type", "boolean"}};
    else if constexpr (std::is_same_v<T, std::string>) {
        Json schema = {{"type", "string"}};
        if (!info.choices.empty()) schema["enum"] = info.choices;
        return schema;
    } else {
        return {{"type", "array"}, {"items", value_schema<typename T::value_type>(info)}};
    }
}

template <class T>
Json leaf_schema(const FieldInfo& info) {
    const Json value = value_schema<T>(info);
    Json schema = {{"description", info.doc}};
    if (!info.internal.empty()) schema["internal"] = info.internal;
    schema["$ref"] = "#/$defs/leaf";
    schema["properties"] = {{"value", value}, {"candidates", {{"type", "array"}, {"items", value}}}};
    if (info.unit != Unit::none) {
        schema["properties"]["unit"] = {{"const", unit_name(info.unit)}};
        schema["anyOf"] = Json::array({{{"required", {"unit"}}}, {{"required", {"absent"}}}});
    }
    schema["unevaluatedProperties"] = false;
    return schema;
}

template <class Struct>
Json struct_schema() {
    Json leaves = Json::object();
    const Struct sample;
    Struct::fields(sample, [&](const FieldInfo& info, const auto& field) {
        leaves[std::string(info.name)] = leaf_schema<typename std::remove_cvref_t<decltype(field)>::value_type>(info);
    });
    return {{"type", "object"}, {"properties", leaves}, {"additionalProperties", false}};
}

/// What all leaves have in common: exactly one of value, absent and candidates, and either a citation or a measurement.
Json common_leaf_schema() {
    const Json text = {{"type", "string"}, {"minLength", 1}};
    Json measured = {{"required", {"method"}}, {"properties", {{"source", false}}}};
    Json cited = {{"required", {"source"}},
                  {"properties", {{"method", false}, {"confidence", false}, {"interval", false}}}};
    return {{"type", "object"},
            {"properties",
             {{"absent", {{"const", true}}},
              {"source", text},
              {"method", text},
              {"confidence", {{"type", "number"}, {"minimum", 0}, {"maximum", 1}}},
              {"interval", {{"type", "array"}, {"minItems", 2}, {"maxItems", 2}, {"items", {{"type", "number"}}}}},
              {"note", {{"type", "string"}}}}},
            {"allOf", Json::array({{{"oneOf", Json::array({{{"required", {"value"}}},
                                                           {{"required", {"absent"}}},
                                                           {{"required", {"candidates"}}}})}},
                                   {{"oneOf", Json::array({cited, measured})}}})}};
}

}  // namespace

std::string json_schema() {
    Json properties;
    properties["schema"] = {{"const", kSchemaName}};
    properties[std::string(kOriginMember)] = origin_schema();
    const Machine sample;
    Machine::sections(sample, [&](std::string_view section, const auto& content) {
        using Content = std::remove_cvref_t<decltype(content)>;
        if constexpr (requires { typename Content::mapped_type; }) {
            properties[std::string(section)] = {
                {"type", "object"},
                {"propertyNames", {{"pattern", "^[A-Za-z0-9_.:-]+$"}}},
                {"additionalProperties", struct_schema<typename Content::mapped_type>()}};
        } else {
            properties[std::string(section)] = struct_schema<Content>();
        }
    });
    const Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                         {"title", "gputomo machine description"},
                         {"description",
                          "A scan does not fill leaves that are marked internal, for the reason given there, and a "
                          "diff skips them."},
                         {"type", "object"},
                         {"required", {"schema"}},
                         {"additionalProperties", false},
                         {"properties", properties},
                         {"$defs", {{"leaf", common_leaf_schema()}}}};
    return schema.dump(1) + "\n";
}

}  // namespace gputomo::machine
