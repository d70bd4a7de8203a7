// Writes the description without sections, with every leaf under its path: as JSON and as CSV.
#include "exports/exports.hpp"

#include "machine/json.hpp"
#include "machine/paths.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <variant>

namespace gputomo::exports {
namespace {

using Json = nlohmann::ordered_json;

Json value_json(const machine::Value& value) {
    return std::visit([](const auto& v) { return Json(v); }, value);
}

std::string_view knowledge_name(machine::Knowledge knowledge) {
    switch (knowledge) {
        case machine::Knowledge::known: return "known";
        case machine::Knowledge::absent: return "absent";
        case machine::Knowledge::undecided: return "undecided";
        case machine::Knowledge::unknown: break;
    }
    return "unknown";
}

Json leaf_json(const machine::NamedLeaf& named) {
    const auto& leaf = named.leaf;
    Json json{{"knowledge", knowledge_name(leaf.knowledge)}};
    if (leaf.knowledge == machine::Knowledge::known) json["value"] = value_json(leaf.value);
    for (const auto& candidate : leaf.candidates) json["candidates"].push_back(value_json(candidate));
    if (named.info.unit != machine::Unit::none) json["unit"] = machine::unit_name(named.info.unit);
    const auto& from = leaf.provenance;
    for (const auto& [name, text] :
         {std::pair{"source", from.source}, std::pair{"method", from.method}, std::pair{"note", from.note}})
        if (!text.empty()) json[name] = text;
    if (from.confidence) json["confidence"] = *from.confidence;
    if (from.interval) json["interval"] = *from.interval;
    return json;
}

std::string csv_cell(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

/// The value as text. Lists are written as JSON, and csv_cell() then quotes their commas.
std::string value_cell(const machine::Leaf& leaf) {
    if (leaf.knowledge == machine::Knowledge::known)
        return std::holds_alternative<std::string>(leaf.value) ? std::get<std::string>(leaf.value)
                                                               : value_json(leaf.value).dump();
    Json candidates = Json::array();
    for (const auto& candidate : leaf.candidates) candidates.push_back(value_json(candidate));
    return candidates.empty() ? std::string() : candidates.dump();
}

}  // namespace

std::string flat_json(const machine::Machine& machine) {
    Json leaves = Json::object();
    for (const auto& named : machine::all_leaves(machine)) leaves[named.path] = leaf_json(named);
    return Json{{"schema", "gputomo-flat-1"}, {"leaves", leaves}}.dump(1) + '\n';
}

std::string csv(const machine::Machine& machine) {
    std::string text = "path,knowledge,value,unit,low,high,confidence,provenance\n";
    for (const auto& [path, info, leaf] : machine::all_leaves(machine)) {
        const auto& from = leaf.provenance;
        const std::string low = from.interval ? fmt::format("{}", from.interval->front()) : "",
                          high = from.interval ? fmt::format("{}", from.interval->back()) : "";
        text += fmt::format("{},{},{},{},{},{},{},{}\n", csv_cell(path), knowledge_name(leaf.knowledge),
                            csv_cell(value_cell(leaf)), machine::unit_name(info.unit), low, high,
                            from.confidence ? fmt::format("{}", *from.confidence) : "",
                            csv_cell(from.source.empty() ? from.method : from.source));
    }
    return text;
}

}  // namespace gputomo::exports
