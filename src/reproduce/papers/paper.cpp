#include "reproduce/papers/paper.hpp"

#include "files/json_node.hpp"
#include "predict/static/listing.hpp"
#include "predict/static/sass_code.hpp"
#include "units/json_text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace gputomo::reproduce {
namespace {

using files::JsonNode;

constexpr std::array<std::string_view, 6> kKinds{"number", "range", "ratio", "behaviour", "formula", "curve-feature"};

std::string text_or_empty(const JsonNode& node, const std::string& name) {
    const auto member = node.find(name);
    return member && !member->json().is_null() ? member->text() : std::string();
}

machine::Value setting_from(const JsonNode& node) {
    const Json& json = node.json();
    if (json.is_number_integer()) return json.get<std::int64_t>();
    if (json.is_number()) return json.get<double>();
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_string()) return json.get<std::string>();
    if (json.is_array()) {
        const auto all = [&](auto test) { return std::all_of(json.begin(), json.end(), test); };
        if (all([](const Json& j) { return j.is_string(); })) return json.get<std::vector<std::string>>();
        if (all([](const Json& j) { return j.is_number_integer(); })) return json.get<std::vector<std::int64_t>>();
        if (all([](const Json& j) { return j.is_number(); })) return json.get<std::vector<double>>();
    }
    node.fail("a number, a text, true, false, or a list of numbers or texts");
}

PaperGpu gpu_from(const JsonNode& node) {
    PaperGpu gpu{.machine = node.at("machine").text()};
    if (const auto settings = node.find("settings"))
        for (const auto& [path, value] : settings->json().items()) {
            const auto member = settings->at(path);
            gpu.settings[path] = setting_from(member);
            try {
                machine::Machine scratch;
                machine::set_leaf(scratch, path, {machine::Knowledge::known, gpu.settings[path], {}, {}});
            } catch (const std::logic_error&) {
                member.fail("a leaf of the machine description, with a value of its type");
            }
        }
    return gpu;
}

/// The listings by name. Each is parsed as machine code, so that a mistake is found when the paper is read.
Listings listings_from(const JsonNode& node) {
    Listings listings;
    for (const auto& [name, ignored] : node.json().items()) {
        const auto text = fmt::format("{}", fmt::join(node.at(name).texts(), "\n"));
        static_cast<void>(predict::code_from_listing(predict::parse_listing(text, name), {}, name));
        listings.emplace(name, text);
    }
    return listings;
}

Recipe recipe_from(const JsonNode& entry, const JsonNode& expression, const Listings& listings) {
    try {
        Recipe recipe{Expression(expression.text(), listings), nullptr, 0, text_or_empty(entry, "remark")};
        if (const auto expected = entry.find("expected")) recipe.expected = expected->json();
        if (const auto tolerance = entry.find("tolerance")) {
            recipe.tolerance = tolerance->number();
            if (recipe.tolerance <= 0 || recipe.tolerance >= 1) tolerance->fail("a part between 0 and 1");
            if (recipe.remark.empty()) tolerance->fail("a 'remark' that says why");
        }
        return recipe;
    } catch (const InputError& e) {
        const std::string what = e.what();
        throw InputError(what.starts_with('"') ? fmt::format("{}.reproduce: {}", entry.at("id").text(), what) : what);
    }
}

Entry entry_from(const JsonNode& node, const Paper& paper) {
    Entry entry{.id = node.at("id").text(),
                .where = node.at("where").text(),
                .gpu = node.at("gpu").text(),
                .quantity = node.at("quantity").text(),
                .value = node.at("value").json(),
                .unit = text_or_empty(node, "unit"),
                .kind = node.at("kind").text(),
                .note = text_or_empty(node, "note")};
    if (!entry.id.starts_with(paper.id + "."))
        node.at("id").fail(fmt::format("an id that starts with '{}.'", paper.id));
    if (std::find(kKinds.begin(), kKinds.end(), entry.kind) == kKinds.end())
        node.at("kind").fail(fmt::format("one of {}", fmt::join(kKinds, ", ")));
    const auto expression = node.find("reproduce"), reason = node.find("not_reproducible");
    if (expression.has_value() == reason.has_value())
        throw InputError(fmt::format("{}: expected one of 'reproduce' and 'not_reproducible'", entry.id));
    if (reason) {
        entry.not_reproducible = reason->text();
        if (entry.not_reproducible.empty()) reason->fail("a reason");
        return entry;
    }
    entry.recipe = recipe_from(node, *expression, paper.listings);
    const auto on = node.find("on");
    entry.on = on ? on->texts() : std::vector{entry.gpu};
    for (const auto& name : entry.on)
        if (!paper.gpus.contains(name)) (on ? *on : node.at("gpu")).fail("a GPU that the paper's 'gpus' has");
    if (entry.on.empty()) on->fail("at least one GPU");
    for (const auto& [name, reads] : entry.recipe->expression.reads())
        if (!name.empty() && !paper.gpus.contains(name))
            expression->fail(fmt::format("a GPU that the paper's 'gpus' has, not '{}'", name));
    return entry;
}

Paper paper_from(const JsonNode& node) {
    if (node.at("schema").text() != kPaperSchema) node.at("schema").fail(fmt::format("\"{}\"", kPaperSchema));
    Paper paper{.id = node.at("id").text(),
                .title = node.at("title").text(),
                .authors = node.at("authors").texts(),
                .year = static_cast<std::int64_t>(node.at("year").natural()),
                .venue = node.at("venue").text()};
    const auto gpus = node.at("gpus");
    for (const auto& [name, ignored] : gpus.json().items()) paper.gpus.emplace(name, gpu_from(gpus.at(name)));
    if (const auto listings = node.find("listings")) paper.listings = listings_from(*listings);
    std::set<std::string> ids;
    for (const auto& result : node.at("results").elements()) {
        paper.entries.push_back(entry_from(result, paper));
        if (!ids.insert(paper.entries.back().id).second) result.at("id").fail("an id that no other entry has");
    }
    for (const auto& found : node.at("discrepancies").elements())
        paper.discrepancies.push_back({found.at("id").text(), found.at("where").text(), found.at("issue").text(),
                                       found.at("values").json(), text_or_empty(found, "suggestion")});
    return paper;
}

}  // namespace

Paper paper_from_json(std::string_view text, std::string_view origin) {
    const auto json = parse_json<Json>(text, origin, "a paper");  // outlives the nodes that point into it
    try {
        return paper_from({json, {}});
    } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", origin, e.what()));
    }
}

}  // namespace gputomo::reproduce
