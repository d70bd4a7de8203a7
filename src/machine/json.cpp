#include "machine/json.hpp"

#include "machine/paths.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace gputomo::machine {
namespace {

using Json = nlohmann::ordered_json;

/// Deeper input is no description; the limit keeps the parser's recursion off the stack's end.
constexpr int kMaxDepth = 16;

[[noreturn]] void fail(std::string_view origin, std::string_view path, std::string_view what) {
    throw InputError(fmt::format("{}: {}: {}", origin, path, what));
}

template <class T>
constexpr std::string_view type_name() {
    if constexpr (std::is_same_v<T, std::int64_t>) return "an integer";
    if constexpr (std::is_same_v<T, double>) return "a number";
    if constexpr (std::is_same_v<T, bool>) return "true or false";
    if constexpr (std::is_same_v<T, std::string>) return "a string";
    if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) return "a list of integers";
    if constexpr (std::is_same_v<T, std::vector<double>>) return "a list of numbers";
    if constexpr (std::is_same_v<T, std::vector<std::string>>) return "a list of strings";
}

template <class T>
bool holds(const Json& json) {
    if constexpr (std::is_same_v<T, std::int64_t>) {
        return json.is_number_integer() &&
               !(json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{INT64_MAX});
    } else if constexpr (std::is_same_v<T, double>) {
        return json.is_number();
    } else if constexpr (std::is_same_v<T, bool>) {
        return json.is_boolean();
    } else if constexpr (std::is_same_v<T, std::string>) {
        return json.is_string();
    } else {
        return json.is_array() && std::all_of(json.begin(), json.end(), holds<typename T::value_type>);
    }
}

bool is_negative(const Value& value) {
    const auto negative = [](auto x) { return x < 0; };
    if (const auto* i = std::get_if<std::int64_t>(&value)) return negative(*i);
    if (const auto* r = std::get_if<double>(&value)) return negative(*r);
    if (const auto* v = std::get_if<std::vector<std::int64_t>>(&value)) return std::any_of(v->begin(), v->end(), negative);
    if (const auto* v = std::get_if<std::vector<double>>(&value)) return std::any_of(v->begin(), v->end(), negative);
    return false;
}

/// Reads one leaf object of a file, whose name starts the error messages.
class LeafReader {
public:
    LeafReader(std::string_view origin, std::string path, const FieldInfo& info)
        : origin_(origin), path_(std::move(path)), info_(info) {}

    template <class T>
    void read(const Json& json, Field<T>& field) const {
        if (!json.is_object())
            error(fmt::format("found {}; expected an object with \"value\", \"absent\" or \"candidates\"", json.type_name()));
        check_members(json);
        check_unit(json);
        read_provenance(json, field.provenance);
        if (json.contains("value")) {
            field.value = element<T>(json.at("value"), "value");
            field.knowledge = Knowledge::known;
        } else if (json.contains("candidates")) {
            const auto& list = json.at("candidates");
            if (!list.is_array() || list.empty()) error("candidates: expected a list of at least one value");
            for (const auto& item : list) field.candidates.push_back(element<T>(item, "candidates"));
            field.knowledge = Knowledge::undecided;
        } else if (json.contains("absent")) {
            if (json.at("absent") != true) error("absent: expected true");
            field.knowledge = Knowledge::absent;
        } else {
            error("expected one of \"value\", \"absent\" and \"candidates\"");
        }
    }

private:
    [[noreturn]] void error(std::string_view what) const { fail(origin_, path_, what); }

    void check_members(const Json& json) const {
        static constexpr std::array<std::string_view, 9> kKnown{
            "value", "unit", "source", "method", "confidence", "interval", "candidates", "absent", "note"};
        for (const auto& [name, unused] : json.items())
            if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end())
                error(fmt::format("unknown member \"{}\"; expected {}", name, fmt::join(kKnown, ", ")));
    }

    void check_unit(const Json& json) const {
        const auto expected = unit_name(info_.unit);
        if (info_.unit == Unit::none) {
            if (json.contains("unit")) error("unit: this field has none");
        } else if (json.contains("absent") && !json.contains("unit")) {
            return;
        } else if (!json.contains("unit") || json.at("unit") != std::string(expected)) {
            error(fmt::format("unit: found {}; expected \"{}\"", json.contains("unit") ? json.at("unit").dump() : "none", expected));
        }
    }

    std::string text(const Json& json, const char* name) const {
        if (!json.contains(name)) return {};
        if (!json.at(name).is_string()) error(fmt::format("{}: expected a string", name));
        return json.at(name).get<std::string>();
    }

    void read_provenance(const Json& json, Provenance& to) const {
        to.source = text(json, "source");
        to.method = text(json, "method");
        to.note = text(json, "note");
        if (to.source.empty() == to.method.empty())
            error("expected either \"source\" (a citation) or \"method\" (a measurement)");
        if (json.contains("confidence")) {
            const auto& confidence = json.at("confidence");
            if (!confidence.is_number() || confidence < 0.0 || confidence > 1.0)
                error(fmt::format("confidence: found {}; expected a number from 0 to 1", confidence.dump()));
            to.confidence = confidence.get<double>();
        }
        if (json.contains("interval")) {
            const auto& interval = json.at("interval");
            if (!holds<std::vector<double>>(interval) || interval.size() != 2 || interval[0] > interval[1])
                error("interval: expected [low, high]");
            to.interval = {interval[0].get<double>(), interval[1].get<double>()};
        }
    }

    template <class T>
    T element(const Json& json, std::string_view member) const {
        if (!holds<T>(json))
            error(fmt::format("{}: found {}; expected {}", member, json.dump(-1, ' ', false, Json::error_handler_t::replace),
                              type_name<T>()));
        T value = json.get<T>();
        if (is_negative(Value(value))) error(fmt::format("{}: found {}; expected nothing negative", member, json.dump()));
        if constexpr (std::is_same_v<T, std::string>) {
            const auto& choices = info_.choices;
            if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end())
                error(fmt::format("{}: found \"{}\"; expected one of {}", member, value, fmt::join(choices, ", ")));
        }
        return value;
    }

    std::string_view origin_;
    std::string path_;
    const FieldInfo& info_;
};

template <class Struct>
void read_struct(const Json& json, Struct& to, std::string_view origin, std::string_view section, std::string_view key) {
    const std::string where = key.empty() ? std::string(section) : fmt::format("{}[{}]", section, key);
    if (!json.is_object()) fail(origin, where, fmt::format("found {}; expected an object", json.type_name()));
    std::vector<std::string> known;
    Struct::fields(to, [&](const FieldInfo& info, auto& field) {
        known.emplace_back(info.name);
        if (json.contains(known.back()))
            LeafReader(origin, join_path(section, key, info.name), info).read(json.at(known.back()), field);
    });
    for (const auto& [name, unused] : json.items())
        if (std::find(known.begin(), known.end(), name) == known.end())
            fail(origin, join_path(section, key, name), fmt::format("unknown field; expected one of {}", fmt::join(known, ", ")));
}

Json parse_text(std::string_view text, std::string_view origin) {
    const auto too_deep = [&](int depth, Json::parse_event_t, Json&) {
        if (depth > kMaxDepth) throw InputError(fmt::format("{}: nested deeper than {} levels", origin, kMaxDepth));
        return true;
    };
    try {
        return Json::parse(text, too_deep);
    } catch (const Json::exception& e) {
        throw InputError(fmt::format("{}: not valid JSON: {}", origin, e.what()));
    }
}

template <class T>
Json leaf_json(const FieldInfo& info, const Field<T>& field) {
    Json leaf;
    if (field.knowledge == Knowledge::known) leaf["value"] = field.value;
    if (field.knowledge == Knowledge::absent) leaf["absent"] = true;
    if (field.knowledge == Knowledge::undecided) leaf["candidates"] = field.candidates;
    if (info.unit != Unit::none) leaf["unit"] = unit_name(info.unit);
    const auto& from = field.provenance;
    if (!from.source.empty()) leaf["source"] = from.source;
    if (!from.method.empty()) leaf["method"] = from.method;
    if (from.confidence) leaf["confidence"] = *from.confidence;
    if (from.interval) leaf["interval"] = *from.interval;
    if (!from.note.empty()) leaf["note"] = from.note;
    return leaf;
}

template <class Struct>
Json struct_json(const Struct& from) {
    Json json = Json::object();
    Struct::fields(from, [&](const FieldInfo& info, const auto& field) {
        if (field.knowledge != Knowledge::unknown) json[std::string(info.name)] = leaf_json(info, field);
    });
    return json;
}

}  // namespace

std::string_view unit_name(Unit unit) {
    static constexpr std::array<std::string_view, 9> kNames{"", "bytes", "cycles", "ns", "MHz", "GB/s", "bytes/cycle",
                                                            "ops/cycle", "count"};
    return kNames.at(static_cast<std::size_t>(unit));
}

Machine from_json(std::string_view text, std::string_view origin) {
    const Json json = parse_text(text, origin);
    if (!json.is_object()) throw InputError(fmt::format("{}: found {}; expected an object", origin, json.type_name()));
    if (!json.contains("schema") || json.at("schema") != std::string(kSchemaName))
        fail(origin, "schema", fmt::format("found {}; expected \"{}\"", json.contains("schema") ? json.at("schema").dump() : "none", kSchemaName));
    Machine machine;
    std::vector<std::string> known{"schema"};
    Machine::sections(machine, [&](std::string_view section, auto& content) {
        const std::string& name = known.emplace_back(section);
        if (!json.contains(name)) return;
        const Json& part = json.at(name);
        using Content = std::remove_cvref_t<decltype(content)>;
        if constexpr (requires { typename Content::mapped_type; }) {
            if (!part.is_object()) fail(origin, section, fmt::format("found {}; expected an object", part.type_name()));
            for (const auto& [key, item] : part.items()) {
                if (key.empty()) fail(origin, section, "found an empty name; expected the name of a thing");
                read_struct(item, content[key], origin, section, key);
            }
        } else {
            read_struct(part, content, origin, section, {});
        }
    });
    for (const auto& [name, unused] : json.items())
        if (std::find(known.begin(), known.end(), name) == known.end())
            fail(origin, name, fmt::format("unknown section; expected one of {}", fmt::join(known, ", ")));
    validate(machine, origin);
    return machine;
}

std::string to_json(const Machine& machine) {
    Json json;
    json["schema"] = kSchemaName;
    Machine::sections(machine, [&](std::string_view section, const auto& content) {
        using Content = std::remove_cvref_t<decltype(content)>;
        Json part = Json::object();
        if constexpr (requires { typename Content::mapped_type; }) {
            for (const auto& [key, item] : content) part[key] = struct_json(item);
        } else {
            part = struct_json(content);
        }
        if (!part.empty()) json[std::string(section)] = std::move(part);
    });
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Machine load(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw InputError(fmt::format("{}: cannot be opened; expected a machine description", file.string()));
    std::ostringstream text;
    text << in.rdbuf();
    return from_json(text.str(), file.string());
}

void save(const Machine& machine, const std::filesystem::path& file) {
    std::ofstream out(file, std::ios::binary);
    out << to_json(machine);
    out.flush();
    if (!out) throw InputError(fmt::format("{}: cannot be written", file.string()));
}

std::string json_schema() {
    Machine sample;
    Json properties;
    properties["schema"] = {{"const", kSchemaName}};
    const auto describe = [](auto& content) {
        Json leaves;
        std::remove_cvref_t<decltype(content)>::fields(content, [&](const FieldInfo& info, const auto& field) {
            using T = typename std::remove_cvref_t<decltype(field)>::value_type;
            Json value = {{"description", type_name<T>()}};
            if (!info.choices.empty()) value["enum"] = info.choices;
            Json leaf = {{"description", info.doc}, {"$ref", "#/$defs/leaf"}, {"properties", {{"value", value}}}};
            if (info.unit != Unit::none) leaf["properties"]["unit"] = {{"const", unit_name(info.unit)}};
            if (!info.internal.empty()) leaf["internal"] = info.internal;
            leaves[std::string(info.name)] = leaf;
        });
        return Json{{"type", "object"}, {"properties", leaves}, {"additionalProperties", false}};
    };
    Machine::sections(sample, [&](std::string_view section, auto& content) {
        using Content = std::remove_cvref_t<decltype(content)>;
        if constexpr (requires { typename Content::mapped_type; }) {
            typename Content::mapped_type item;
            properties[std::string(section)] = {{"type", "object"}, {"additionalProperties", describe(item)}};
        } else {
            properties[std::string(section)] = describe(content);
        }
    });
    Json leaf = {{"type", "object"},
                 {"properties",
                  {{"confidence", {{"type", "number"}, {"minimum", 0}, {"maximum", 1}}},
                   {"interval", {{"type", "array"}, {"minItems", 2}, {"maxItems", 2}, {"items", {{"type", "number"}}}}},
                   {"candidates", {{"type", "array"}, {"minItems", 1}}},
                   {"absent", {{"const", true}}},
                   {"source", {{"type", "string"}}},
                   {"method", {{"type", "string"}}},
                   {"note", {{"type", "string"}}}}},
                 {"oneOf", Json::array({{{"required", {"value"}}}, {{"required", {"absent"}}}, {{"required", {"candidates"}}}})}};
    const Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                         {"title", "gputomo machine description"},
                         {"type", "object"},
                         {"required", {"schema"}},
                         {"additionalProperties", false},
                         {"properties", properties},
                         {"$defs", {{"leaf", leaf}}}};
    return schema.dump(1) + "\n";
}

}  // namespace gputomo::machine
