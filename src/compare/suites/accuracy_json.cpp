#include "compare/suites/accuracy_json.hpp"

#include "files/json_node.hpp"
#include "units/error.hpp"
#include "units/file.hpp"
#include "units/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <utility>

namespace gputomo::compare {
namespace {

using files::Json;
using files::JsonNode;

Json json_of_answer(const Scored& scored, Method method) {
    const EntryAnswer& answer = *scored.answer(method);
    Json json{{"error", scored.error(method)}};
    if (!answer.failure.empty()) {
        json["failure"] = answer.failure;
        return json;
    }
    json["cycles"] = answer.cycles;
    json["instructions"] = answer.instructions;
    json["dram_bytes"] = answer.dram_bytes;
    json["seconds"] = answer.seconds;
    if (!answer.limiter.empty()) json["limiter"] = answer.limiter;
    if (const auto ratio = scored.instruction_ratio(method)) json["instruction_ratio"] = *ratio;
    if (const auto ratio = scored.dram_ratio(method)) json["dram_ratio"] = *ratio;
    if (!answer.blocks.complete()) {
        json["sampled_blocks"] = answer.blocks.simulated;
        json["blocks"] = answer.blocks.of;
        json["sampling_error"] = answer.blocks.error;
    }
    if (!answer.warnings.empty()) json["warnings"] = answer.warnings;
    return json;
}

EntryAnswer answer_of(const JsonNode& node) {
    EntryAnswer answer;
    if (const auto failure = node.find("failure")) {
        answer.failure = failure->text();
        return answer;
    }
    answer.cycles = node.at("cycles").number();
    answer.instructions = node.at("instructions").number();
    answer.dram_bytes = node.at("dram_bytes").number();
    answer.seconds = node.at("seconds").number();
    if (const auto limiter = node.find("limiter")) answer.limiter = limiter->text();
    if (const auto simulated = node.find("sampled_blocks"))
        answer.blocks = {.simulated = simulated->natural(),
                         .of = node.at("blocks").natural(),
                         .error = node.at("sampling_error").number()};
    if (const auto warnings = node.find("warnings"))
        for (const auto& warning : warnings->elements()) answer.warnings.push_back(warning.text());
    return answer;
}

Json json_of_entry(const Scored& scored) {
    Json json{{"suite", scored.entry.suite},
              {"name", scored.entry.name},
              {"held_out", scored.entry.held_out},
              {"async", scored.entry.async},
              {"measured_cycles", scored.entry.counters.at(kCyclesCounter)}};
    if (const auto limiter = measured_limiter(scored.entry)) json["measured_limiter"] = *limiter;
    for (const Method method : kMethods)
        if (scored.answer(method)) json[name_of(method)] = json_of_answer(scored, method);
    if (!scored.lost.empty()) json["not_proven"] = scored.lost;
    return json;
}

Json json_of_accuracy(const Accuracy& accuracy) {
    return {{"entries", accuracy.entries},
            {"answered", accuracy.answered},
            {"mean", accuracy.mean},
            {"median", accuracy.median},
            {"percentile_90", accuracy.percentile_90},
            {"mean_of_answered", accuracy.mean_of_answered},
            {"median_of_answered", accuracy.median_of_answered},
            {"median_seconds", accuracy.median_seconds},
            {"percentile_90_seconds", accuracy.percentile_90_seconds},
            {"limiters", accuracy.limiters},
            {"right_limiters", accuracy.right_limiters}};
}

AccuracyOrigin origin_of(const JsonNode& node) {
    return {.version = node.at("version").text(),
            .commit = node.at("commit").text(),
            .device = node.at("device").text(),
            .gpu = node.at("gpu").text(),
            .seed = node.at("seed").natural(),
            .sample_above = node.at("sample_above").natural()};
}

std::string text_of(const AccuracyOrigin& origin) {
    return fmt::format("{} beside {}, seed {}, sampled above {}, by version {} ({})", origin.device, origin.gpu,
                       origin.seed, origin.sample_above, origin.version, origin.commit);
}

}  // namespace

Json accuracy_json(std::span<const Scored> scored, const AccuracyOrigin& origin) {
    Json json{{"schema", kAccuracySchema},
              {"version", origin.version},
              {"commit", origin.commit},
              {"device", origin.device},
              {"gpu", origin.gpu},
              {"seed", origin.seed},
              {"sample_above", origin.sample_above}};
    for (const Method method : kMethods)
        if (const auto accuracy = accuracy_of(scored, method); accuracy.entries > 0)
            json[name_of(method)] = json_of_accuracy(accuracy);
    auto& list = json["kernels"] = Json::array();
    for (const auto& one : scored) list.push_back(json_of_entry(one));
    return json;
}

void restore_answers(std::span<Scored> scored, const std::filesystem::path& file, const AccuracyOrigin& origin) {
    restore_answers(scored, read_file(file, "results of `gputomo accuracy`"), file.string(), origin);
}

void restore_answers(std::span<Scored> scored, std::string_view text, const std::string& name,
                     const AccuracyOrigin& origin) {
    const auto json = parse_json<Json>(text, name, "results of `gputomo accuracy`");
    const JsonNode node(json, name);
    if (node.at("schema").text() != kAccuracySchema) node.at("schema").fail(fmt::format("\"{}\"", kAccuracySchema));
    if (const auto other = origin_of(node); other != origin)
        throw InputError(fmt::format("{}: found answers of {}; expected {}. Remove it or name another file", name,
                                     text_of(other), text_of(origin)));
    std::map<std::pair<std::string, std::string>, JsonNode> kept;
    for (const auto& kernel : node.at("kernels").elements())
        kept.emplace(std::pair(kernel.at("suite").text(), kernel.at("name").text()), kernel);
    for (Scored& one : scored) {
        const auto found = kept.find({one.entry.suite, one.entry.name});
        if (found == kept.end()) continue;
        if (const auto lost = found->second.find("not_proven")) one.lost = lost->text();
        for (const Method method : kMethods)
            if (const auto answer = found->second.find(std::string(name_of(method))))
                one.answer(method) = answer_of(*answer);
    }
}

}  // namespace gputomo::compare
