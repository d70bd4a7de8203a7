// Reads machine descriptions from JSON. Every error names the file, the field, what was found and what was expected.
#include "machine/json.hpp"

#include "machine/origin_json.hpp"
#include "machine/paths.hpp"
#include "units/error.hpp"
#include "units/json_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

namespace gputomo::machine {
namespace {

using Json = nlohmann::ordered_json;

/// Descriptions nest 4 levels deep. The limit stops hostile input before the recursion of the parser overflows the
/// stack; any value between 4 and some thousands would do.
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
    if (const auto* v = std::get_if<std::vector<std::int64_t>>(&value))
        return std::any_of(v->begin(), v->end(), negative);
    if (const auto* v = std::get_if<std::vector<double>>(&value)) return std::any_of(v->begin(), v->end(), negative);
    return false;
}

/// Reads one leaf object. Errors start with `origin`, the name of the file, and `path`, the leaf.
class LeafReader {
public:
    LeafReader(std::string_view origin, std::string path, const FieldInfo& info)
        : origin_(origin), path_(std::move(path)), info_(info) {}

    template <class T>
    void read(const Json& json, Field<T>& field) const {
        if (!json.is_object())
            error(fmt::format("found {}; expected an object with \"value\", \"absent\" or \"candidates\"",
                              json.type_name()));
        check_members(json);
        check_unit(json);
        read_provenance(json, field.provenance);
        if (json.contains("value")) {
            field.value = element<T>(json.at("value"), "value");
            field.knowledge = Knowledge::known;
        } else if (json.contains("candidates")) {
            const auto& list = json.at("candidates");
            if (!list.is_array())
                error(fmt::format("candidates: found {}; expected a list of values", list.type_name()));
            for (const auto& item : list) field.candidates.push_back(element<T>(item, "candidates"));
            field.knowledge = Knowledge::undecided;
        } else {
            if (json.at("absent") != true)
                error(fmt::format("absent: found {}; expected true", json.at("absent").dump()));
            field.knowledge = Knowledge::absent;
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
        const int kinds = json.contains("value") + json.contains("absent") + json.contains("candidates");
        if (kinds != 1) error(fmt::format("found {} of \"value\", \"absent\" and \"candidates\"; expected one", kinds));
    }

    void check_unit(const Json& json) const {
        const auto expected = unit_name(info_.unit);
        if (info_.unit == Unit::none) {
            if (json.contains("unit"))
                error(
                    fmt::format("unit: found {}; expected none, since this field has no unit", json.at("unit").dump()));
        } else if (json.contains("absent") && !json.contains("unit")) {
            return;
        } else if (!json.contains("unit") || json.at("unit") != std::string(expected)) {
            error(fmt::format("unit: found {}; expected \"{}\"",
                              json.contains("unit") ? json.at("unit").dump() : "none", expected));
        }
    }

    std::string text(const Json& json, const char* name) const {
        if (!json.contains(name)) return {};
        if (!json.at(name).is_string())
            error(fmt::format("{}: found {}; expected a string", name, json.at(name).type_name()));
        return json.at(name).get<std::string>();
    }

    void read_provenance(const Json& json, Provenance& to) const {
        to.source = text(json, "source");
        to.method = text(json, "method");
        to.note = text(json, "note");
        if (to.source.empty() == to.method.empty())
            error(fmt::format("found {}; expected either \"source\" (a citation) or \"method\" (a measurement)",
                              to.source.empty() ? "no provenance" : "\"source\" and \"method\""));
        if (!to.source.empty() && (json.contains("confidence") || json.contains("interval")))
            error("found a confidence or an interval with \"source\"; expected them with \"method\" only");
        if (json.contains("confidence")) {
            const auto& confidence = json.at("confidence");
            if (!confidence.is_number() || confidence < 0.0 || confidence > 1.0)
                error(fmt::format("confidence: found {}; expected a number from 0 to 1", confidence.dump()));
            to.confidence = confidence.get<double>();
        }
        if (json.contains("interval")) {
            const auto& interval = json.at("interval");
            if (!holds<std::vector<double>>(interval) || interval.size() != 2 || interval[0] > interval[1])
                error(fmt::format("interval: found {}; expected [low, high]", interval.dump()));
            to.interval = {interval[0].get<double>(), interval[1].get<double>()};
        }
    }

    template <class T>
    T element(const Json& json, std::string_view member) const {
        if (!holds<T>(json))
            error(fmt::format("{}: found {}; expected {}", member,
                              json.dump(-1, ' ', false, Json::error_handler_t::replace), type_name<T>()));
        T value = json.get<T>();
        if (is_negative(Value(value)))
            error(fmt::format("{}: found {}; expected no negative number", member, json.dump()));
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
void read_struct(const Json& json, Struct& to, std::string_view origin, std::string_view section,
                 std::string_view key) {
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
            fail(origin, join_path(section, key, name),
                 fmt::format("unknown field; expected one of {}", fmt::join(known, ", ")));
}

/// Refuses input that the parser accepts: objects nested too deep, and a name that is given twice in one object (the
/// parser would silently keep the last).
class StructureCheck {
public:
    explicit StructureCheck(std::string_view origin) : origin_(origin) {}

    bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
        if (depth > kMaxDepth)
            throw InputError(fmt::format("{}: found more than {} nested levels; expected a machine description",
                                         origin_, kMaxDepth));
        const auto level = static_cast<std::size_t>(depth);
        if (event == Json::parse_event_t::object_start) names_.at(level + 1).clear();
        if (event == Json::parse_event_t::key && !names_.at(level).insert(parsed.get<std::string>()).second)
            throw InputError(fmt::format("{}: found \"{}\" twice in one object; expected it once", origin_,
                                         parsed.get<std::string>()));
        return true;
    }

private:
    std::string_view origin_;
    std::array<std::set<std::string>, kMaxDepth + 2> names_;  ///< names in the object that is open at each depth
};

Json parse_text(std::string_view text, std::string_view origin) {
    StructureCheck check(origin);
    return parse_json<Json>(text, origin, "a machine description", std::ref(check));
}

/// Keys are parts of paths such as operations[add.s32].latency, so they must not contain brackets or blanks.
void check_key(std::string_view origin, std::string_view section, std::string_view key) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
               c == ':' || c == '-';
    };
    if (key.empty() || !std::all_of(key.begin(), key.end(), allowed))
        fail(origin, section, fmt::format("found the name \"{}\"; expected letters, digits and _ . : -", key));
}

void check_schema_name(const Json& json, std::string_view origin) {
    if (!json.is_object()) throw InputError(fmt::format("{}: found {}; expected an object", origin, json.type_name()));
    if (!json.contains("schema") || json.at("schema") != std::string(kSchemaName))
        fail(origin, "schema",
             fmt::format("found {}; expected \"{}\"", json.contains("schema") ? json.at("schema").dump() : "none",
                         kSchemaName));
}

}  // namespace

Machine from_json(std::string_view text, std::string_view origin) {
    const Json json = parse_text(text, origin);
    check_schema_name(json, origin);
    Machine machine;
    std::vector<std::string> known{"schema", std::string(kOriginMember)};
    if (json.contains(known.back()))
        machine.origin = origin_from(json.at(known.back()), fmt::format("{}: {}", origin, kOriginMember));
    Machine::sections(machine, [&](std::string_view section, auto& content) {
        const std::string& name = known.emplace_back(section);
        if (!json.contains(name)) return;
        const Json& part = json.at(name);
        using Content = std::remove_cvref_t<decltype(content)>;
        if constexpr (requires { typename Content::mapped_type; }) {
            if (!part.is_object()) fail(origin, section, fmt::format("found {}; expected an object", part.type_name()));
            for (const auto& [key, item] : part.items()) {
                check_key(origin, section, key);
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

}  // namespace gputomo::machine
