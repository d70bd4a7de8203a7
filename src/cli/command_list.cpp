#include "cli/inputs/devices.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/inputs/papers.hpp"
#include "cli/options.hpp"
#include "cli/terminal/messages.hpp"
#include "device/cuda/cuda.hpp"
#include "experiments/experiment.hpp"
#include "models/model.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

Json devices() {
    Json list = Json::array();
    for (int i = 0; i < device::cuda::count(); ++i)
        list.push_back({{"id", fmt::format("cuda:{}", i)}, {"name", device::cuda::name(i)}});
    for (const auto& name : shipped_machines()) {
        const auto machine = simulated_machine("sim:" + name);
        list.push_back({{"id", "sim:" + name}, {"name", machine.identity.name.value_or(name) + " (simulated)"}});
    }
    return list;
}

Json experiment_list() {
    Json list = Json::array();
    for (const auto& e : experiments::catalogue())
        list.push_back({{"id", e.id},
                        {"title", e.title},
                        {"source", e.source},
                        {"method", e.method},
                        {"explanation", e.explanation},
                        {"file", e.file()},
                        {"needs", e.needs},
                        {"provides", e.provides}});
    return list;
}

Json paper_list() {
    Json list = Json::array();
    for (const auto& paper : shipped_papers()) {
        std::size_t reproducible = 0;
        for (const auto& entry : paper.entries) reproducible += entry.recipe ? 1 : 0;
        list.push_back({{"id", paper.id},
                        {"title", paper.title},
                        {"authors", paper.authors},
                        {"year", paper.year},
                        {"venue", paper.venue},
                        {"results", paper.entries.size()},
                        {"reproducible", reproducible}});
    }
    return list;
}

Json model_list() {
    Json list = Json::array();
    for (const auto& model : models::catalogue())
        list.push_back({{"id", model.id}, {"title", model.title}, {"source", model.source}});
    return list;
}

int print(const std::string& what, const Json& list, bool json) {
    if (json) {
        print_json(Json{{"schema", "gputomo-list-1"}, {what, list}}, origin_of_command());
        return 0;
    }
    for (const auto& row : list)
        out::print("{:<24} {}\n", row.at("id").get<std::string>(), row.value("title", row.value("name", "")));
    return 0;
}

}  // namespace

void add_list(CLI::App& parent, Action& action) {
    Command list(parent, "list", "List devices, experiments, models or papers");
    list.require_subcommand();
    const auto json = std::make_shared<bool>(false);
    const auto add = [&](const std::string& what, const std::string& help, Json (*rows)()) {
        Command command(list, what, help);
        command.add_flag("--json", *json, "print JSON instead of text");
        command.runs(action, [json, what, rows] { return print(what, rows(), *json); });
    };
    add("devices", "List the GPUs of this computer and the simulated ones", devices);
    add("experiments", "List the experiments that scan and run can run", experiment_list);
    add("models", "List the performance models of latency hiding", model_list);
    add("papers", "List the papers whose published values reproduce measures again", paper_list);
}

}  // namespace gputomo::cli
