// Converts scans to the text of scan.json and back. Errors name the field.
#include "files/json_node.hpp"
#include "machine/origin_json.hpp"
#include "scan/files.hpp"
#include "units/error.hpp"
#include "units/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

namespace gputomo::scan {
namespace {

using files::Json;
using files::JsonNode;

/// How the file spells a verdict. An unknown leaf has no estimate.
struct Verdict {
    results::Knowledge knowledge;
    std::string_view name;
};
constexpr Verdict kVerdicts[] = {{results::Knowledge::known, "decided"},
                                 {results::Knowledge::absent, "absent"},
                                 {results::Knowledge::undecided, "undecided"}};
constexpr std::array kStatuses{Status::done,      Status::failed,  Status::device_failed,
                               Status::timed_out, Status::skipped, Status::interrupted};

/// An empty list has no element that shows its type, which a description needs. So it is written as
/// {"empty": "strings"}.
Json empty_list(std::string_view of) { return {{"empty", of}}; }

Json value_json(const std::vector<std::int64_t>& list) { return list.empty() ? empty_list("integers") : Json(list); }
Json value_json(const std::vector<double>& list) { return list.empty() ? empty_list("numbers") : Json(list); }
Json value_json(const std::vector<std::string>& list) { return list.empty() ? empty_list("strings") : Json(list); }
template <class Scalar>
Json value_json(const Scalar& scalar) {
    return Json(scalar);
}
Json any_value_json(const results::Value& value) {
    return std::visit([](const auto& v) { return value_json(v); }, value);
}

results::Value empty_list_from(const JsonNode& of) {
    const auto name = of.text();
    if (name == "integers") return std::vector<std::int64_t>{};
    if (name == "numbers") return std::vector<double>{};
    if (name == "strings") return std::vector<std::string>{};
    of.fail("integers, numbers or strings");
}

bool is_int64(const Json& json) {
    return json.is_number_integer() &&
           !(json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{INT64_MAX});
}

results::Value value_from(const JsonNode& node) {
    const Json& json = node.json();
    if (json.is_boolean()) return json.get<bool>();
    if (is_int64(json)) return json.get<std::int64_t>();
    if (json.is_number()) return json.get<double>();
    if (json.is_string()) return json.get<std::string>();
    if (json.is_object()) return empty_list_from(node.at("empty"));
    if (json.is_array() && !json.empty()) {
        const auto all = [&](auto test) { return std::all_of(json.begin(), json.end(), test); };
        if (all(is_int64)) return json.get<std::vector<std::int64_t>>();
        if (all([](const Json& j) { return j.is_number(); })) return json.get<std::vector<double>>();
        if (all([](const Json& j) { return j.is_string(); })) return json.get<std::vector<std::string>>();
    }
    node.fail("a number, a string, true, false, or a list of numbers or strings");
}

std::string_view verdict_name(const results::Estimate& estimate) {
    const auto verdict = std::ranges::find(kVerdicts, estimate.knowledge, &Verdict::knowledge);
    if (verdict == std::end(kVerdicts))
        throw std::logic_error(
            fmt::format("the estimate of {} is unknown; expected known, absent or undecided", estimate.path));
    return verdict->name;
}

Json estimate_json(const results::Estimate& e) {
    Json json = {{"path", e.path}, {"verdict", verdict_name(e)}};
    if (e.known()) json["value"] = any_value_json(e.value);
    for (const auto& candidate : e.candidates) json["candidates"].push_back(any_value_json(candidate));
    json["method"] = e.method;
    json["confidence"] = e.confidence;
    if (e.interval) json["interval"] = *e.interval;
    if (!e.note.empty()) json["note"] = e.note;
    return json;
}

results::Knowledge knowledge_from(const JsonNode& node) {
    const auto verdict = std::ranges::find(kVerdicts, node.text(), &Verdict::name);
    if (verdict == std::end(kVerdicts)) node.fail("decided, absent or undecided");
    return verdict->knowledge;
}

std::array<double, 2> interval_from(const JsonNode& node) {
    const auto ends = node.elements();
    if (ends.size() != 2) node.fail("[low, high]");
    return {ends[0].number(), ends[1].number()};
}

results::Estimate estimate_from(const JsonNode& node) {
    results::Estimate e;
    e.path = node.at("path").text();
    e.knowledge = knowledge_from(node.at("verdict"));
    if (e.known()) e.value = value_from(node.at("value"));
    if (const auto candidates = node.find("candidates"))
        for (const auto& candidate : candidates->elements()) e.candidates.push_back(value_from(candidate));
    e.method = node.at("method").text();
    e.confidence = node.at("confidence").number();
    if (const auto interval = node.find("interval")) e.interval = interval_from(*interval);
    if (const auto note = node.find("note")) e.note = note->text();
    try {
        machine::Machine probe;
        add_estimate(probe, e);
    } catch (const std::logic_error&) {  // a leaf that is none, or a value of another type
        node.at("path").fail("a leaf of a machine description, and a value of its type");
    }
    return e;
}

/// The columns that select another form of plot than points and lines, by their names in the file.
template <class Plot>
auto form_columns(Plot& plot) {
    return std::array{std::pair{"split", &plot.split}, std::pair{"shade", &plot.shade},
                      std::pair{"until", &plot.until}};
}

Json trace_json(const results::Trace& trace) {
    Json json = {{"name", trace.name}, {"experiment", trace.experiment}, {"columns", Json::array()}};
    for (const auto& column : trace.columns)
        json["columns"].push_back({{"name", column.name}, {"unit", column.unit}, {"values", column.values}});
    const auto& plot = trace.plot;
    if (!plot.x.empty())
        json["plot"] = {
            {"title", plot.title}, {"x", plot.x}, {"y", plot.y}, {"log_x", plot.log_x}, {"log_y", plot.log_y}};
    for (const auto& [key, column] : form_columns(plot))
        if (!plot.x.empty() && !column->empty()) json["plot"][key] = *column;
    return json;
}

results::Trace trace_from(const JsonNode& node) {
    results::Trace trace;
    trace.name = node.at("name").text();
    trace.experiment = node.at("experiment").text();
    for (const auto& column : node.at("columns").elements())
        trace.columns.push_back({column.at("name").text(), column.at("unit").text(), column.at("values").samples()});
    if (const auto plot = node.find("plot")) {
        trace.plot = {plot->at("title").text(), plot->at("x").text(), plot->at("y").texts(), plot->at("log_x").flag(),
                      plot->at("log_y").flag()};
        for (const auto& [key, column] : form_columns(trace.plot))
            if (const auto named = plot->find(key)) *column = named->text();
    }
    return trace;
}

Json check_json(const results::CodeCheck& check) {
    Json json = {{"kernel", check.kernel},
                 {"result", results::name_of(check.result)},
                 {"expected", check.expected},
                 {"found", check.found}};
    if (!check.listing.empty()) json["listing"] = check.listing;
    return json;
}

results::CodeResult result_from(const JsonNode& node) {
    using enum results::CodeResult;
    const auto name = node.text();
    for (const auto known : {passed, failed, unavailable})
        if (results::name_of(known) == name) return known;
    node.fail("passed, failed or unavailable");
}

results::CodeCheck check_from(const JsonNode& node) {
    const auto listing = node.find("listing");
    return {.kernel = node.at("kernel").text(),
            .result = result_from(node.at("result")),
            .expected = node.at("expected").text(),
            .found = node.at("found").text(),
            .listing = listing ? listing->text() : ""};
}

Json record_json(const Record& record) {
    Json json = {{"id", record.id}, {"status", status_name(record.status)}, {"seconds", record.seconds}};
    if (!record.error.empty()) json["error"] = record.error;
    if (!record.date.empty()) json["date"] = record.date;
    json["estimates"] = Json::array();
    for (const auto& e : record.outcome.estimates) json["estimates"].push_back(estimate_json(e));
    json["warnings"] = record.outcome.warnings;
    json["code_checks"] = Json::array();
    for (const auto& check : record.outcome.code_checks) json["code_checks"].push_back(check_json(check));
    json["traces"] = Json::array();
    for (const auto& trace : record.outcome.traces) json["traces"].push_back(trace_json(trace));
    return json;
}

Status status_from(const JsonNode& node) {
    const auto name = node.text();
    const auto found =
        std::find_if(kStatuses.begin(), kStatuses.end(), [&](Status status) { return status_name(status) == name; });
    if (found == kStatuses.end()) node.fail("done, failed, device failed, time limit, skipped or interrupted");
    return *found;
}

Record record_from(const JsonNode& node) {
    Record record;
    record.id = node.at("id").text();
    record.status = status_from(node.at("status"));
    record.seconds = node.at("seconds").number();
    if (const auto error = node.find("error")) record.error = error->text();
    if (const auto date = node.find("date")) record.date = date->text();
    for (const auto& e : node.at("estimates").elements()) record.outcome.estimates.push_back(estimate_from(e));
    record.outcome.warnings = node.at("warnings").texts();
    for (const auto& c : node.at("code_checks").elements()) record.outcome.code_checks.push_back(check_from(c));
    for (const auto& t : node.at("traces").elements()) record.outcome.traces.push_back(trace_from(t));
    return record;
}

Scan scan_from(const JsonNode& node) {
    const auto schema = node.at("schema");
    if (schema.text() != kScanSchema) schema.fail(fmt::format("\"{}\"", kScanSchema));
    Scan scan;
    const auto device = node.at("device"), options = node.at("options");
    scan.device_name = device.at("name").text();
    scan.device_id = device.at("id").text();
    scan.seed = options.at("seed").natural();
    scan.quick = options.at("quick").flag();
    if (const auto noise = options.find("noise")) scan.noise = static_cast<int>(noise->natural());
    const std::string origin(machine::kOriginMember);
    if (const auto found = node.find(origin)) scan.origin = machine::origin_from(found->json(), origin);
    for (const auto& experiment : node.at("experiments").elements()) {
        scan.records.push_back(record_from(experiment));
        for (const auto& e : scan.records.back().outcome.estimates) scan.findings.add(e);
    }
    return scan;
}

}  // namespace

std::string to_json(const Scan& scan) {
    Json json = {{"schema", kScanSchema}};
    if (scan.origin) machine::add_origin(json, *scan.origin);
    json["device"] = {{"name", scan.device_name}, {"id", scan.device_id}};
    json["options"] = {{"seed", scan.seed}, {"quick", scan.quick}};
    if (scan.noise != 0) json["options"]["noise"] = scan.noise;
    json["experiments"] = Json::array();
    for (const auto& record : scan.records) json["experiments"].push_back(record_json(record));
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Scan scan_from_json(std::string_view text, std::string_view origin) {
    const auto json = parse_json<Json>(text, origin, "a scan");  // must outlive the nodes, which point into it
    try {
        return scan_from({json, {}});
    } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", origin, e.what()));
    }
}

}  // namespace gputomo::scan
