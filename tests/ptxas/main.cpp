// Compiles the kernels of all experiments with ptxas and checks their machine code, without a GPU:
//     gputomo_ptxas_check PTXAS SM FOLDER [EXPERIMENT...]
// The experiments run on the simulated GTX 280. FOLDER keeps each kernel's PTX and cubin.
#include "compiling_device.hpp"

#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "sim/simulator.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace gputomo::ptxas_check {
namespace {

/// PTX ISA 9.0 has all targets up to sm_121.
constexpr int kPtxMajor = 9;
constexpr int kPtxMinor = 0;

std::string line_of(const results::CodeCheck& check) {
    return fmt::format("  {}: {}: expected {}; found {}\n{}", check.kernel, results::name_of(check.result),
                       check.expected, check.found, check.listing);
}

/// `whole`: runs every row of the experiment's tables, which takes longer.
bool check(const experiments::Experiment& experiment, device::Device& device, bool whole) {
    const results::Findings none;
    experiments::Context context{device, none, 1, !whole, [](double, std::string_view) {}};
    try {
        std::set<std::string> lines;
        const auto outcome = experiment.run(context);
        bool good = true;
        for (const auto& check : outcome.code_checks) {
            lines.insert(line_of(check));
            good = good && check.result != results::CodeResult::failed;
        }
        fmt::print("{}: {}\n", experiment.id, good ? "as written" : "kernels left out");
        for (const auto& line : lines) fmt::print("{}", line);
        return good;
    } catch (const Error& error) {
        fmt::print("{}: {}\n", experiment.id, error.what());
        return false;
    }
}

int run(const std::string& ptxas, int sm, const std::string& folder, const std::set<std::string>& ids) {
    std::filesystem::create_directories(folder);
    auto inner = sim::make_device(machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx280.json"), {.id = "sim:gtx280"});
    const auto device = compiling_device(std::move(inner), {ptxas, {kPtxMajor, kPtxMinor, sm}, folder});
    bool good = true;
    for (const auto& experiment : experiments::catalogue())
        if (ids.empty() || ids.contains(std::string(experiment.id)))
            good = check(experiment, *device, !ids.empty()) && good;
    return good ? 0 : 1;
}

}  // namespace
}  // namespace gputomo::ptxas_check

int main(int argc, char** argv) {
    if (argc < 4) {
        fmt::print(stderr, "usage: {} PTXAS SM FOLDER [EXPERIMENT...]\n", argv[0]);
        return 2;
    }
    return gputomo::ptxas_check::run(argv[1], std::atoi(argv[2]), argv[3], {argv + 4, argv + argc});
}
