// Writes a reproduction as JSON and as a table for the terminal.
#include "machine/origin_json.hpp"
#include "reproduce/papers/agreement.hpp"
#include "reproduce/papers/reproduce.hpp"

#include <fmt/format.h>

namespace gputomo::reproduce {
namespace {

Json row_json(const Row& row) {
    const auto& entry = *row.entry;
    Json json = {{"id", entry.id},
                 {"gpu", row.gpu},
                 {"where", entry.where},
                 {"quantity", entry.quantity},
                 {"published", entry.value},
                 {"reproduced", row.reproduced},
                 {"unit", entry.unit},
                 {"agrees", row.agrees},
                 {"from", entry.recipe->expression.text()}};
    if (!entry.recipe->expected.is_null()) json["expected"] = entry.recipe->expected;
    if (entry.recipe->tolerance > 0) json["tolerance"] = entry.recipe->tolerance;
    if (!entry.recipe->remark.empty()) json["remark"] = entry.recipe->remark;
    if (!row.why.empty()) json["why"] = row.why;
    return json;
}

Json reason_json(const Entry& entry) {
    return {{"id", entry.id},
            {"gpu", entry.gpu},
            {"where", entry.where},
            {"quantity", entry.quantity},
            {"published", entry.value},
            {"unit", entry.unit},
            {"reason", entry.not_reproducible}};
}

std::string row_line(const Row& row, std::size_t id_width) {
    const auto& entry = *row.entry;
    std::string published = text_of(entry.value);
    if (!entry.recipe->expected.is_null()) published += fmt::format(" ({})", text_of(entry.recipe->expected));
    const auto verdict = row.agrees ? "agrees " : row.reproduced.is_null() ? "missing" : "DIFFERS";
    const auto reproduced = row.reproduced.is_null() ? row.why : text_of(row.reproduced);
    return fmt::format("{} {:<{}}  {:<24} {:<24} {}\n", verdict, entry.id, id_width, published, reproduced, entry.unit);
}

std::string reason_line(const Entry& entry) {
    return fmt::format("        {}: {}: {}{}{}\n                {}\n", entry.id, entry.quantity, text_of(entry.value),
                       entry.unit.empty() ? "" : " ", entry.unit, entry.not_reproducible);
}

}  // namespace

std::string results_json(const Reproduction& reproduction) {
    Json json = {{"schema", kReproductionSchema},
                 {"paper", reproduction.paper->id},
                 {"agreeing", reproduction.agreeing()},
                 {"results", Json::array()},
                 {"not_reproducible", Json::array()}};
    if (reproduction.origin) machine::add_origin(json, *reproduction.origin);
    for (const auto& row : reproduction.rows) json["results"].push_back(row_json(row));
    for (const auto* entry : reproduction.not_reproducible) json["not_reproducible"].push_back(reason_json(*entry));
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string results_table(const Reproduction& reproduction) {
    std::size_t width = 0;
    for (const auto& row : reproduction.rows) width = std::max(width, row.entry->id.size());
    std::string out, gpu;
    for (const auto& row : reproduction.rows) {
        if (row.gpu != gpu) out += fmt::format("{}{}\n", gpu.empty() ? "" : "\n", row.gpu);
        gpu = row.gpu;
        out += row_line(row, width);
    }
    if (!reproduction.not_reproducible.empty()) out += "\nnot reproducible\n";
    for (const auto* entry : reproduction.not_reproducible) out += reason_line(*entry);
    return out +
           fmt::format(
               "\n{} of {} published values agree ({} rows compare built-in models with equations and examples); {} "
               "cannot be reproduced\n",
               reproduction.agreeing(), reproduction.rows.size(), reproduction.model_rows(),
               reproduction.not_reproducible.size());
}

}  // namespace gputomo::reproduce
