#include "machine/json.hpp"

#include "machine/origin_json.hpp"
#include "units/file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>

namespace gputomo::machine {
namespace {

using Json = nlohmann::ordered_json;

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

/// Appends `json` with line breaks in the objects above the leaves, which lie `leaf_depth` levels down. A leaf is one
/// line, so that a change of one value changes one line of the file.
void append_lines(const Json& json, int leaf_depth, const std::string& indent, std::string& text) {
    if (leaf_depth == 0 || !json.is_object()) {
        text += json.dump(-1, ' ', false, Json::error_handler_t::replace);
        return;
    }
    text += '{';
    const char* separator = "\n";
    for (const auto& [name, member] : json.items()) {
        text += separator + indent + ' ' + Json(name).dump(-1, ' ', false, Json::error_handler_t::replace) + ": ";
        append_lines(member, leaf_depth - 1, indent + ' ', text);
        separator = ",\n";
    }
    text += (json.empty() ? "" : "\n" + indent) + '}';
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
    static constexpr std::array<std::string_view, 9> kNames{"",     "bytes",       "cycles",    "ns",   "MHz",
                                                            "GB/s", "bytes/cycle", "ops/cycle", "count"};
    return kNames.at(static_cast<std::size_t>(unit));
}

std::string to_json(const Machine& machine) {
    std::string text = "{\n \"schema\": " + Json(kSchemaName).dump();
    if (machine.origin) {
        text += fmt::format(",\n \"{}\": ", kOriginMember);
        append_lines(origin_json(*machine.origin), 1, " ", text);
    }
    Machine::sections(machine, [&](std::string_view section, const auto& content) {
        using Content = std::remove_cvref_t<decltype(content)>;
        constexpr bool is_map = requires { typename Content::mapped_type; };
        Json part = Json::object();
        if constexpr (is_map) {
            for (const auto& [key, item] : content) part[key] = struct_json(item);
        } else {
            part = struct_json(content);
        }
        if (part.empty()) return;
        text += fmt::format(",\n \"{}\": ", section);
        append_lines(part, is_map ? 2 : 1, " ", text);
    });
    return text + "\n}\n";
}

Machine load(const std::filesystem::path& file) {
    return from_json(read_file(file, "a machine description"), file.string());
}

}  // namespace gputomo::machine
