#include "answer/described_gpu.hpp"

#include "answer/fits.hpp"
#include "sass/cubin.hpp"
#include "sim/completion.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace gputomo::answer {
namespace {

std::string text_of(const device::Dim3& three) { return fmt::format("({}, {}, {})", three.x, three.y, three.z); }

}  // namespace

DescribedGpu::DescribedGpu(const machine::Machine& described, std::string origin) : origin_(std::move(origin)) {
    try {
        auto completed = sim::completed(described);
        assumed_ = std::move(completed.assumed);
        device_ = sim::make_device(completed.machine, {.id = origin_, .noise = {}});
    } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", origin_, e.what()));
    }
}

void DescribedGpu::check(const launch::Launch& launch, bool needs_machine_code) const {
    const std::string where = launch.origin.empty() ? launch.kernel : launch.origin;
    const bool is_cubin = sass::is_cubin(launch.code);
    if (is_cubin || needs_machine_code)
        check_machine_code(*device_, where, "a GPU of one of them, or a simulation of PTX");
    if (is_cubin)
        check_cubin(*device_, launch.code, where);
    else if (needs_machine_code)
        throw InputError(fmt::format("{}: is PTX; expected a cubin for sm_{}", where, sm()));
    check_shape(*device_, launch.grid, launch.block, launch.dynamic_shared,
                {.grid = "the grid " + text_of(launch.grid),
                 .block = "the block " + text_of(launch.block),
                 .shared = fmt::format("the dynamic shared memory {}", launch.dynamic_shared)});
}

}  // namespace gputomo::answer
