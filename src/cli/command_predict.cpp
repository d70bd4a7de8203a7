#include "cli/command.hpp"
#include "cli/devices.hpp"
#include "cli/kernel_arguments.hpp"
#include "machine/json.hpp"
#include "predict/listing.hpp"
#include "predict/prediction.hpp"
#include "predict/ptx_code.hpp"
#include "predict/sass_code.hpp"
#include "ptx/parser.hpp"
#include "units/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PredictOptions {
    std::string file, kernel, machine;
    std::vector<std::string> trip_counts, taken, transactions, ways;
    double l1_hit_rate = 0, l2_hit_rate = 0;
    bool json = false;
};

/// "NAME=N"
std::pair<std::string, double> assignment(const std::string& text, const std::string& option) {
    const std::string where = option + " " + text;
    const auto equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) throw InputError(where + ": expected NAME=NUMBER");
    return {text.substr(0, equals), number<double>(std::string_view(text).substr(equals + 1), where)};
}

std::map<int, double> by_line(const std::vector<std::string>& texts, const std::string& option) {
    std::map<int, double> values;
    for (const auto& text : texts) {
        const auto [line, value] = assignment(text, option);
        values[number<int>(line, option + " " + text)] = value;
    }
    return values;
}

predict::Choices choices_from(const PredictOptions& options) {
    predict::Choices choices;
    for (const auto& text : options.trip_counts) choices.path.trip_counts.insert(assignment(text, "--trip-count"));
    choices.path.taken.insert(options.taken.begin(), options.taken.end());
    choices.access = {.transactions = by_line(options.transactions, "--transactions"), .ways = by_line(options.ways, "--ways"), .l1_hit_rate = options.l1_hit_rate, .l2_hit_rate = options.l2_hit_rate};
    return choices;
}

predict::Code code_from(const PredictOptions& options) {
    const auto text = read_file(options.file);
    if (predict::is_listing(text)) return predict::code_from_listing(predict::parse_listing(text, options.file), options.kernel, options.file);
    return predict::code_from_ptx(ptx::parse(text, options.file), options.kernel, options.file);
}

machine::Machine machine_from(const std::string& name) { return name.starts_with("sim:") ? simulated_machine(name) : machine::load(name); }

/// JSON has no infinity: null where the throughput can't be reached.
Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json worksheet_json(const predict::Worksheet& sheet) {
    Json resources = Json::array();
    for (const auto& resource : sheet.resources) {
        Json uses = Json::array();
        for (const auto& use : resource.uses) uses.push_back({{"by", use.by}, {"cycles_each", use.cycles_each}, {"count", use.count}, {"cycles", use.cycles()}});
        resources.push_back({{"resource", resource.resource}, {"uses", uses}, {"cycles", resource.total()}});
    }
    return resources;
}

Json instructions_json(const predict::Prediction& p) {
    Json list = Json::array();
    for (std::size_t i = 0; i < p.code.instructions.size(); ++i)
        list.push_back({{"line", p.code.instructions[i].line}, {"text", p.code.instructions[i].text}, {"executions", p.executions[i]}, {"first_issue", p.issue_times[i] < 0 ? Json() : Json(p.issue_times[i])}});
    return list;
}

Json json_from(const predict::Prediction& p) {
    Json points = Json::array(), changes = Json::array();
    for (const auto& point : p.points) points.push_back({{"warps", point.warps}, {"warps_per_cycle", point.warps_per_cycle}, {"contended_warps_per_cycle", point.contended_warps_per_cycle}});
    for (const auto& change : p.changes) changes.push_back({{"what", change.what}, {"needed_warps", change.needed_warps}, {"cycles_per_warp", change.cycles_per_warp}});
    return {{"schema", "gputomo-prediction-1"}, {"kernel", p.kernel}, {"gpu", p.gpu}, {"limited_by", p.limited_by}, {"latency_cycles", p.latency}, {"cycles_per_warp", p.bound},
            {"needed_warps", p.needed_warps}, {"needed_warps_contended", finite(p.needed_contended)}, {"max_warps", p.max_warps}, {"dram_bytes_per_warp", p.bytes},
            {"dram_gigabytes_per_second", p.gigabytes_per_second}, {"throughput", points}, {"worksheet", worksheet_json(p.worksheet)}, {"changes", changes},
            {"instructions", instructions_json(p)}, {"assumptions", p.assumptions}};
}

void print_worksheet(const predict::Worksheet& sheet, const std::string& limited_by) {
    fmt::print("\nThroughput bound: cycles of each resource of an SM for one warp\n");
    for (const auto& resource : sheet.resources) {
        fmt::print("  {:<44} {:>34.4g}{}\n", resource.resource, resource.total(), resource.resource == limited_by ? "  <- the limit" : "");
        for (const auto& use : resource.uses) fmt::print("    {:<42} {:>10.4g} x {:>10.6g} = {:>8.4g}\n", use.by, use.cycles_each, use.count, use.cycles());
    }
}

/// Every occupancy would be a long table; these show the shape. The last is always among them.
void print_points(const predict::Prediction& p) {
    constexpr std::size_t kRows = 12;
    fmt::print("\nThroughput against occupancy, warps per 1000 cycles and SM\n  {:>6} {:>12} {:>16}\n", "warps", "bounds", "with contention");
    const std::size_t count = p.points.size(), rows = std::min(kRows, count);
    for (std::size_t row = 1; row <= rows; ++row) {
        const auto& point = p.points[row * count / rows - 1];
        fmt::print("  {:>6} {:>12.4g} {:>16.4g}\n", point.warps, 1000 * point.warps_per_cycle, 1000 * point.contended_warps_per_cycle);
    }
}

std::string needed_text(double warps) { return std::isfinite(warps) ? fmt::format("{:.1f}", warps) : "more than any number of"; }

void print_text(const predict::Prediction& p) {
    fmt::print("{} on {}\n\n", p.kernel, p.gpu);
    fmt::print("  latency of a warp alone   {:.6g} cycles\n  throughput bound          {:.4g} cycles for a warp and SM\n  limited by                {}\n", p.latency, p.bound, p.limited_by);
    fmt::print("  needed occupancy          {:.1f} warps per SM{}\n", p.needed_warps, p.max_warps > 0 ? fmt::format(" of {}", p.max_warps) : "");
    fmt::print("  with memory contention    {} warps per SM\n", needed_text(p.needed_contended));
    if (p.max_warps > 0 && p.needed_warps > p.max_warps) fmt::print("  an SM does not hold that many: latency limits the kernel at any occupancy\n");
    if (p.bytes > 0) fmt::print("  DRAM traffic              {:.6g} bytes a warp, {:.4g} GB/s at the bound\n", p.bytes, p.gigabytes_per_second);
    print_worksheet(p.worksheet, p.limited_by);
    print_points(p);
    fmt::print("\nWhat would change it\n");
    for (const auto& change : p.changes) fmt::print("  {:<52} {:>8.1f} warps needed, {:.4g} cycles a warp\n", change.what, change.needed_warps, change.cycles_per_warp);
    fmt::print("\nAssumed\n");
    for (const auto& assumption : p.assumptions) fmt::print("  {}\n", assumption);
}

int run_prediction(const PredictOptions& options) {
    const auto prediction = predict::predict(code_from(options), machine_from(options.machine), choices_from(options), options.machine);
    if (options.json) fmt::print("{}\n", json_from(prediction).dump(1));
    else print_text(prediction);
    return 0;
}

}  // namespace

void add_predict(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<PredictOptions>();
    auto* command = parent.add_subcommand("predict", "Throughput of a kernel against occupancy, from PTX or a listing of machine code");
    command->add_option("file", options->file, "PTX, or what cuobjdump -sass or nvdisasm print")->required();
    command->add_option("--kernel", options->kernel, "entry to predict")->required();
    command->add_option("--machine", options->machine, "machine.json, or sim:NAME for a shipped one")->required();
    command->add_flag("--json", options->json, "as JSON");
    command->add_option("--trip-count", options->trip_counts, "LABEL=N turns of the loop that starts there")->allow_extra_args(false);
    command->add_option("--taken", options->taken, "LABEL that conditional branches forward go to")->allow_extra_args(false);
    command->add_option("--transactions", options->transactions, "LINE=N lines of 128 bytes that a warp's access in that line touches")->allow_extra_args(false);
    command->add_option("--ways", options->ways, "LINE=N bank-conflict ways of the shared memory access in that line")->allow_extra_args(false);
    command->add_option("--l1-hit", options->l1_hit_rate, "share of loads that hit in the SM's cache")->capture_default_str();
    command->add_option("--l2-hit", options->l2_hit_rate, "share of the others that hit in the GPU's cache")->capture_default_str();
    command->callback([&action, options] { action = [options] { return run_prediction(*options); }; });
}

}  // namespace gputomo::cli
