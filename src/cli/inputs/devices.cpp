#include "cli/inputs/devices.hpp"

#include "cli/inputs/embedded_files.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/inputs/set_leaves.hpp"
#include "cli/terminal/messages.hpp"
#include "device/cuda/cuda.hpp"
#include "machine/json.hpp"
#include "machine/names.hpp"
#include "sim/completion.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <set>
#include <utility>

namespace gputomo::cli {
namespace {

constexpr std::string_view kDefaultMachine = "sim:gtx280";

/// Says once for each name what was assumed: a command may open a simulated GPU for every kernel.
void note_assumptions(const std::string& name, const std::vector<std::string>& assumed) {
    static std::mutex mutex;
    static std::set<std::string> noted;
    const std::lock_guard guard(mutex);
    if (!assumed.empty() && noted.insert(name).second)
        out::note(
            "{} leaves {} things open that simulation needs; the first of what is assumed: {}. `gputomo simulate "
            "--explain` lists all",
            name, assumed.size(), assumed.front());
}

/// Names of the descriptions that are built in, with those of their GPUs.
const std::vector<machine::DescriptionName>& built_in_names() {
    static const auto names = [] {
        std::vector<machine::DescriptionName> found;
        for (const auto& machine : embedded_machines()) {
            const auto json = nlohmann::json::parse(machine.text);
            found.push_back({std::string(machine.name), json.at("/identity/name/value"_json_pointer)});
        }
        return found;
    }();
    return names;
}

/// The text of the built-in description that is meant; nullptr where there is none.
const EmbeddedFile* built_in(const std::string& given) {
    const auto machines = embedded_machines();
    auto found = std::ranges::find(machines, given, &EmbeddedFile::name);
    if (found == machines.end()) {
        const auto name = machine::description_named(given, built_in_names());
        if (!name) return nullptr;
        found = std::ranges::find(machines, *name, &EmbeddedFile::name);
    }
    return &*found;
}

}  // namespace

int cuda_index(const std::string& name) {
    int index = -1;
    const std::string_view digits = std::string_view(name).substr(5);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc{} || end != digits.data() + digits.size() || index < 0)
        throw InputError(fmt::format("device '{}': expected a number after 'cuda:'", name));
    return index;
}

sim::Noise noise_level(int level) {
    switch (level) {
        case 0: return {};
        case 1: return {.jitter_cycles = 2, .outlier_fraction = 0.002};
        case 2: return {.jitter_cycles = 4, .outlier_fraction = 0.01, .clock_drift = 0.001};
        case 3: return {.jitter_cycles = 6, .outlier_fraction = 0.02, .clock_drift = 0.002};
        default: throw InputError(fmt::format("--noise {}: expected 0 to 3", level));
    }
}

std::vector<std::string> shipped_machines() {
    std::vector<std::string> names;
    for (const auto& machine : embedded_machines()) names.emplace_back(machine.name);
    return names;
}

machine::Machine simulated_machine(const std::string& name) {
    const std::string what = name.substr(4);
    if (what.ends_with(".json") || what.ends_with(".json.gz")) return machine_in(what);
    if (const auto* machine = built_in(what)) return machine::from_json(machine->text, name);
    throw InputError(fmt::format("{}: no such machine; expected one of {}, or a file that ends in .json or .json.gz",
                                 what, fmt::join(shipped_machines(), ", ")));
}

std::string with_prefix(const std::string& name) {
    const auto* machine = built_in(name.starts_with("sim:") ? name.substr(4) : name);
    return machine == nullptr ? name : fmt::format("sim:{}", machine->name);
}

std::unique_ptr<sim::SimulatedDevice> open_simulated(const std::string& given, std::uint64_t seed, int noise,
                                                     DescriptionChanges* changes) {
    const auto name = with_prefix(given);
    if (!name.starts_with("sim:"))
        throw InputError(fmt::format("device '{}': expected a simulated one, sim:NAME or sim:FILE.json", name));
    try {
        auto described = simulated_machine(name);
        std::vector<std::string> set;
        if (changes != nullptr) set = set_leaves(described, changes->set);
        const auto [machine, assumed] = sim::completed(std::move(described));
        auto device = sim::make_device(machine, {.id = name, .seed = seed, .noise = noise_level(noise)});
        if (changes != nullptr) {
            changes->assumed = std::move(set);
            changes->assumed.insert(changes->assumed.end(), assumed.begin(), assumed.end());
        } else {
            note_assumptions(name, assumed);
        }
        return device;
    } catch (const InputError& e) {
        const std::string what = e.what();
        if (what.starts_with("--set")) throw;
        throw InputError(what.find(name.substr(4)) == std::string::npos ? fmt::format("device '{}': {}", name, what)
                                                                        : what);
    }
}

std::unique_ptr<device::Device> open_device(const std::string& name, std::uint64_t seed, int noise) {
    if (name == "auto")
        return open_device(device::cuda::count() > 0 ? "cuda:0" : std::string(kDefaultMachine), seed, noise);
    if (name.starts_with("sim:")) return open_simulated(name, seed, noise);
    if (name.starts_with("cuda:")) {
        const int index = cuda_index(name);
        if (noise != 0)
            throw InputError(
                fmt::format("--noise {}: has no effect on {}; expected it with a simulated GPU", noise, name));
        return device::cuda::open(index);
    }
    throw InputError(fmt::format("device '{}': expected cuda:N, sim:NAME, sim:FILE.json or auto", name));
}

}  // namespace gputomo::cli
