#include "answer/inspection.hpp"
#include "cli/inputs/devices.hpp"
#include "cli/inputs/machine_code.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/options.hpp"
#include "cli/terminal/exits.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "sass/kernel_info.hpp"
#include "sim/completion.hpp"
#include "sim/machine_code/program.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InspectOptions {
    std::string file, kernel, machine;
    std::vector<std::string> assertions;
    bool summary = false, json = false;
};

/// The newest compute capability whose code is read: a fatbin gives that.
constexpr int kNewest = 90;

int compute_capability(const machine::Machine& machine) {
    return static_cast<int>(10 * machine.identity.compute_capability_major.value_or(0) +
                            machine.identity.compute_capability_minor.value_or(0));
}

/// The description that gives instructions their costs: the one that was asked for, or a built-in one of the code's
/// compute capability. nullopt where there is none.
std::optional<machine::Machine> description_for(const InspectOptions& options, int sm) {
    if (!options.machine.empty()) return sim::completed(machine_named(options.machine)).machine;
    for (const auto& name : shipped_machines()) {
        auto machine = simulated_machine("sim:" + name);
        if (compute_capability(machine) == sm) return sim::completed(std::move(machine)).machine;
    }
    return {};
}

std::vector<std::string> kernels_asked_for(const sass::Cubin& cubin, const InspectOptions& options) {
    std::vector<std::string> kernels;
    for (const auto& name : cubin.kernels())
        if (sass::is_kernel(cubin, name)) kernels.push_back(name);
    if (options.kernel.empty() && !kernels.empty()) return kernels;
    if (std::ranges::find(kernels, options.kernel) == kernels.end())
        throw InputError(fmt::format(
            "{}: no kernel '{}'; expected {}", options.file, options.kernel,
            kernels.empty() ? "a cubin with a kernel" : fmt::format("one of {}", fmt::join(kernels, ", "))));
    return {options.kernel};
}

/// Says which assertions do not hold. Returns the exit code.
int check(const std::vector<answer::InspectedKernel>& kernels, const std::vector<answer::Assertion>& assertions) {
    int code = kDone;
    for (const auto& kernel : kernels)
        for (const auto& assertion : assertions) {
            if (holds(kernel, assertion)) continue;
            code = kFailed;
            out::say("gputomo: --assert {}: {} has {:.6g}", assertion.text, kernel.name, counted(kernel, assertion));
        }
    return code;
}

int inspect(const InspectOptions& options) {
    std::vector<answer::Assertion> assertions;
    for (const auto& text : options.assertions) assertions.push_back(answer::assertion_of(text));
    const auto read = read_code(options.file, kNewest, CodeWish::any);
    if (!sass::is_cubin(read.code))
        throw InputError(
            fmt::format("{}: is PTX, or has no machine code for sm_{}; expected a cubin, or a fatbin with "
                        "machine code. `ptxas` makes a cubin of PTX",
                        options.file, kNewest));
    const sass::Cubin cubin(std::as_bytes(std::span(read.code)));
    const int sm = cubin.sm().value_or(0);
    if (!sim::machine_code::executes(sm))
        throw InputError(
            fmt::format("{}: its machine code is for sm_{}; expected sm_80, sm_86, sm_89 or sm_90", options.file, sm));
    const auto machine = description_for(options, sm);
    std::vector<answer::InspectedKernel> kernels;
    for (const auto& name : kernels_asked_for(cubin, options))
        kernels.push_back(answer::inspect(cubin, name, machine ? &*machine : nullptr));
    if (options.json) {
        Json all = Json::array();
        for (const auto& kernel : kernels) all.push_back(inspection_json(kernel));
        print_json({{"schema", "gputomo-inspection-1"},
                    {"costs_of", machine ? Json(machine->identity.name.value_or("")) : Json()},
                    {"kernels", all}},
                   origin_of_command());
    } else {
        for (const auto& kernel : kernels)
            out::print("{}{}", &kernel == kernels.data() ? "" : "\n", inspection_text(kernel, !options.summary));
    }
    return check(kernels, assertions);
}

}  // namespace

void add_inspect(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<InspectOptions>();
    Command command(parent, "inspect",
                    "Print what the machine code of kernels is: resources, instructions, their costs");
    command.add_option("file", options->file, "cubin, or fatbin with machine code").required();
    command.add_option("--kernel", options->kernel, "this kernel alone (default: all of the file)");
    command.add_option(
        "--machine", options->machine,
        std::string(kMachineHelp) +
            "; gives instructions their costs (default: a built-in one of the code's compute capability)");
    command
        .add_option(
            "--assert", options->assertions,
            "exit with 1 unless this holds for each kernel: \"spills==0\", \"registers<=64\", \"HMMA>0\"; given "
            "once for each")
        .one_value_each();
    command.add_flag("--summary", options->summary, "leave the listing out");
    command.add_flag("--json", options->json, "print JSON instead of text");
    command.runs(action, [options] { return inspect(*options); });
}

}  // namespace gputomo::cli
