#include "scan/files.hpp"

#include "units/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace gputomo::scan {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kVerdicts{"decided", "absent", "undecided"};

Json value_json(const deduce::Value& value) {
    return std::visit([](const auto& v) { return Json(v); }, value);
}

deduce::Value value_from(const Json& json) {
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_number_integer()) return json.get<std::int64_t>();
    if (json.is_number()) return json.get<double>();
    if (json.is_string()) return json.get<std::string>();
    if (json.is_array()) {
        const auto all = [&](auto test) { return std::all_of(json.begin(), json.end(), test); };
        if (all([](const Json& j) { return j.is_number_integer(); })) return json.get<std::vector<std::int64_t>>();
        if (all([](const Json& j) { return j.is_number(); })) return json.get<std::vector<double>>();
        if (all([](const Json& j) { return j.is_string(); })) return json.get<std::vector<std::string>>();
    }
    throw InputError("value: expected a number, a string, true, false, or a list of numbers or strings");
}

Json estimate_json(const deduce::Estimate& e) {
    Json json = {{"path", e.path}, {"verdict", kVerdicts.at(static_cast<std::size_t>(e.verdict))}};
    if (e.verdict == deduce::Verdict::decided) json["value"] = value_json(e.value);
    for (const auto& candidate : e.candidates) json["candidates"].push_back(value_json(candidate));
    json["method"] = e.method;
    json["confidence"] = e.confidence;
    if (e.interval) json["interval"] = *e.interval;
    if (!e.note.empty()) json["note"] = e.note;
    return json;
}

deduce::Estimate estimate_from(const Json& json) {
    deduce::Estimate e;
    e.path = json.at("path").get<std::string>();
    const auto verdict = std::find(kVerdicts.begin(), kVerdicts.end(), json.at("verdict").get<std::string>());
    if (verdict == kVerdicts.end()) throw InputError("verdict: expected decided, absent or undecided");
    e.verdict = static_cast<deduce::Verdict>(verdict - kVerdicts.begin());
    if (json.contains("value")) e.value = value_from(json.at("value"));
    if (json.contains("candidates"))
        for (const auto& candidate : json.at("candidates")) e.candidates.push_back(value_from(candidate));
    e.method = json.at("method").get<std::string>();
    e.confidence = json.at("confidence").get<double>();
    if (json.contains("interval")) e.interval = json.at("interval").get<std::array<double, 2>>();
    e.note = json.value("note", "");
    return e;
}

Json trace_json(const deduce::Trace& trace) {
    Json json = {{"name", trace.name}, {"experiment", trace.experiment}, {"columns", Json::array()}};
    for (const auto& column : trace.columns) json["columns"].push_back({{"name", column.name}, {"unit", column.unit}, {"values", column.values}});
    if (!trace.plot.x.empty())
        json["plot"] = {{"title", trace.plot.title}, {"x", trace.plot.x}, {"y", trace.plot.y}, {"log_x", trace.plot.log_x}, {"log_y", trace.plot.log_y}};
    return json;
}

deduce::Trace trace_from(const Json& json) {
    deduce::Trace trace;
    trace.name = json.at("name").get<std::string>();
    trace.experiment = json.at("experiment").get<std::string>();
    for (const auto& column : json.at("columns"))
        trace.columns.push_back({column.at("name").get<std::string>(), column.at("unit").get<std::string>(), column.at("values").get<std::vector<double>>()});
    if (json.contains("plot")) {
        const auto& plot = json.at("plot");
        trace.plot = {plot.at("title").get<std::string>(), plot.at("x").get<std::string>(), plot.at("y").get<std::vector<std::string>>(), plot.at("log_x").get<bool>(), plot.at("log_y").get<bool>()};
    }
    return trace;
}

Json record_json(const Record& record) {
    Json json = {{"id", record.id}, {"status", status_name(record.status)}, {"seconds", record.seconds}};
    if (!record.error.empty()) json["error"] = record.error;
    json["estimates"] = Json::array();
    for (const auto& e : record.outcome.estimates) json["estimates"].push_back(estimate_json(e));
    json["warnings"] = record.outcome.warnings;
    json["code_checks"] = Json::array();
    for (const auto& check : record.outcome.code_checks) {
        Json row = {{"kernel", check.kernel}, {"result", experiments::name_of(check.result)}, {"expected", check.expected}, {"found", check.found}};
        if (!check.listing.empty()) row["listing"] = check.listing;
        json["code_checks"].push_back(row);
    }
    json["traces"] = Json::array();
    for (const auto& trace : record.outcome.traces) json["traces"].push_back(trace_json(trace));
    return json;
}

Status status_from(const std::string& name) {
    for (const auto known : {Status::done, Status::failed, Status::device_failed, Status::timed_out, Status::skipped,
                             Status::interrupted})
        if (status_name(known) == name) return known;
    throw InputError(fmt::format("status: found \"{}\"; expected one that a scan writes, such as \"done\"", name));
}

experiments::CodeCheck code_check_from(const Json& json) {
    using experiments::CodeResult;
    experiments::CodeCheck check{.kernel = json.at("kernel").get<std::string>(), .expected = json.at("expected").get<std::string>()};
    check.found = json.at("found").get<std::string>();
    check.listing = json.value("listing", "");
    const auto name = json.at("result").get<std::string>();
    for (const auto known : {CodeResult::passed, CodeResult::failed, CodeResult::unavailable}) {
        check.result = known;
        if (experiments::name_of(known) == name) return check;
    }
    throw InputError(fmt::format("result: found \"{}\"; expected passed, failed or unavailable", name));
}

Record record_from(const Json& json) {
    Record record;
    record.id = json.at("id").get<std::string>();
    record.status = status_from(json.at("status").get<std::string>());
    record.seconds = json.at("seconds").get<double>();
    record.error = json.value("error", "");
    for (const auto& e : json.at("estimates")) record.outcome.estimates.push_back(estimate_from(e));
    record.outcome.warnings = json.at("warnings").get<std::vector<std::string>>();
    for (const auto& c : json.at("code_checks")) record.outcome.code_checks.push_back(code_check_from(c));
    for (const auto& t : json.at("traces")) record.outcome.traces.push_back(trace_from(t));
    return record;
}

}  // namespace

std::string to_json(const Scan& scan) {
    Json json = {{"schema", kScanSchema}, {"device", {{"name", scan.device_name}, {"id", scan.device_id}}}, {"options", {{"seed", scan.seed}, {"quick", scan.quick}}}, {"experiments", Json::array()}};
    for (const auto& record : scan.records) json["experiments"].push_back(record_json(record));
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Scan scan_from_json(std::string_view text, std::string_view origin) {
    try {
        const Json json = Json::parse(text);
        if (json.at("schema") != std::string(kScanSchema)) throw InputError(fmt::format("schema: expected \"{}\"", kScanSchema));
        Scan scan;
        scan.device_name = json.at("device").at("name").get<std::string>();
        scan.device_id = json.at("device").at("id").get<std::string>();
        scan.seed = json.at("options").at("seed").get<std::uint64_t>();
        scan.quick = json.at("options").at("quick").get<bool>();
        for (const auto& experiment : json.at("experiments")) {
            scan.records.push_back(record_from(experiment));
            for (const auto& e : scan.records.back().outcome.estimates) scan.findings.add(e);
        }
        return scan;
    } catch (const Json::exception& e) {
        throw InputError(fmt::format("{}: not a scan: {}", origin, e.what()));
    } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", origin, e.what()));
    }
}

Scan load_scan(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw InputError(fmt::format("{}: cannot be opened; expected a scan.json", file.string()));
    std::ostringstream text;
    text << in.rdbuf();
    return scan_from_json(text.str(), file.string());
}

void write_file(const fs::path& file, std::string_view content) {
    fs::path temporary = file;
    temporary += ".part";
    std::ofstream out(temporary, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    std::error_code error;
    if (out) fs::rename(temporary, file, error);
    if (!out || error) throw InputError(fmt::format("{}: cannot be written{}{}", file.string(), error ? ": " : "", error ? error.message() : ""));
}

void check_writable(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || !fs::is_directory(folder)) throw InputError(fmt::format("{}: cannot be made a folder; expected one to write results to", folder.string()));
    const fs::path probe = folder / ".gputomo-probe";
    write_file(probe, "");
    fs::remove(probe, error);
}

}  // namespace gputomo::scan
