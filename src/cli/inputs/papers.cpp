#include "cli/inputs/papers.hpp"

#include "cli/inputs/devices.hpp"
#include "cli/inputs/embedded_files.hpp"
#include "machine/json.hpp"
#include "machine/paths.hpp"
#include "sim/simulator.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gputomo::cli {
namespace {

reproduce::Paper read(const EmbeddedFile& file) {
    return reproduce::paper_from_json(file.text, fmt::format("papers/{}.json", file.name));
}

}  // namespace

std::vector<reproduce::Paper> shipped_papers() {
    std::vector<reproduce::Paper> papers;
    for (const auto& file : embedded_papers()) papers.push_back(read(file));
    return papers;
}

reproduce::Paper shipped_paper(const std::string& id) {
    std::vector<std::string_view> names;
    for (const auto& file : embedded_papers()) {
        if (file.name == id) return read(file);
        names.push_back(file.name);
    }
    throw InputError(fmt::format("no paper '{}'; expected one of {}", id, fmt::join(names, ", ")));
}

std::unique_ptr<device::Device> open_paper_gpu(const std::string& name, const reproduce::PaperGpu& gpu,
                                               std::uint64_t seed) {
    auto machine = simulated_machine("sim:" + gpu.machine);
    for (const auto& [path, value] : gpu.settings)
        machine::set_leaf(machine, path, {machine::Knowledge::known, value, {}, {.source = "a setting of " + name}});
    machine::validate(machine, name);
    return sim::make_device(machine, {.id = "sim:" + gpu.machine, .seed = seed});
}

}  // namespace gputomo::cli
