#include "exports/origins.hpp"

#include "machine/diff.hpp"
#include "machine/json.hpp"
#include "machine/paths.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gputomo::exports {

std::string origin_text(const std::string& path, const machine::Leaf& leaf) {
    const auto& from = leaf.provenance;
    const bool cited = !from.source.empty();
    const std::string& said = cited ? from.source : from.method;
    const bool assumed = said.starts_with("assumed");
    std::string out = fmt::format("{}: {} = {}",
                                  assumed ? "assumed"
                                  : cited ? "cited"
                                          : "measured",
                                  path, machine::value_text(leaf));
    if (!assumed) out += fmt::format(": {}", said);
    if (assumed && !from.note.empty()) out += fmt::format(": {}", from.note);
    if (from.confidence) out += fmt::format(" (confidence {:.2f})", *from.confidence);
    std::ranges::replace(out, '\n', ' ');
    return out;
}

nlohmann::ordered_json whole(double number) {
    return std::isnan(number) ? nlohmann::ordered_json() : nlohmann::ordered_json(std::llround(number));
}

double Origins::number(const std::string& field, const std::string& path, double otherwise) {
    const auto leaf = path.empty() ? std::nullopt : machine::get_leaf(machine_, path);
    if (!leaf || leaf->knowledge != machine::Knowledge::known) {
        note(field, fmt::format("{}; the description does not know {}",
                                std::isnan(otherwise) ? "not known" : fmt::format("assumed: {:g}", otherwise),
                                path.empty() ? "a cache of global memory" : path));
        return otherwise;
    }
    note(field, origin_text(path, *leaf));
    return results::as_number(leaf->value).value();
}

std::string Origins::cache_leaf(std::string_view leaf) const {
    const auto path = machine_.paths.find("global");
    const auto caches = path == machine_.paths.end() ? std::vector<std::string>{}
                                                     : path->second.caches.value_or(std::vector<std::string>{});
    return caches.empty() ? "" : machine::join_path("caches", caches.back(), leaf);
}

void Origins::note(const std::string& field, std::string text) {
    auto& notes = notes_[field];
    if (std::ranges::find(notes, text) == notes.end()) notes.push_back(std::move(text));
}

nlohmann::ordered_json Origins::json() const {
    nlohmann::ordered_json all = nlohmann::ordered_json::object();
    for (const auto& [field, notes] : notes_) all[field] = notes;
    return all;
}

}  // namespace gputomo::exports
