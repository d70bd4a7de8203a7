#include "answer/fits.hpp"

#include "sass/cubin.hpp"
#include "sim/machine_code/program.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <span>

namespace gputomo::answer {
namespace {

/// The newest compute capability whose machine code is executed.
constexpr int kNewest = 90;

/// Code runs on later GPUs of its generation.
bool runs_on(int code, int gpu) { return code / 10 == gpu / 10 && code <= gpu; }

}  // namespace

int machine_code_for(int sm) { return sim::machine_code::executes(sm) ? sm : sm > kNewest ? kNewest : 0; }

std::optional<std::string> code_of_another_gpu(const launch::Launch& launch, const machine::Machine& machine) {
    if (!sass::is_cubin(launch.code)) return {};
    const auto code = static_cast<int>(sass::Cubin(std::as_bytes(std::span(launch.code))).sm().value_or(0));
    const auto gpu = static_cast<int>(10 * machine.identity.compute_capability_major.value_or(0) +
                                      machine.identity.compute_capability_minor.value_or(0));
    if (gpu == 0 || runs_on(code, gpu)) return {};
    return fmt::format(
        "the machine code is for sm_{}, which {} (sm_{}) does not execute: it stands in for what the compiler makes of "
        "the kernel there, which may take another time",
        code, machine.identity.name.value_or("this GPU"), gpu);
}

void check_machine_code(const device::Device& gpu, const std::string& where, std::string_view expected) {
    const int sm = gpu.ptx_target().sm;
    if (machine_code_for(sm) == 0)
        throw InputError(
            fmt::format("{}: machine code is executed on compute capability 8.0, 8.6, 8.9 and 9.0 only, and {} has "
                        "{}.{}; expected {}",
                        where, gpu.name(), sm / 10, sm % 10, expected));
}

void check_cubin(const device::Device& gpu, std::string_view cubin, const std::string& where) {
    const int of_gpu = gpu.ptx_target().sm;
    const int of_code = sass::Cubin(std::as_bytes(std::span(cubin))).sm().value_or(0);
    if (const int expected = machine_code_for(of_gpu); runs_on(of_code, expected)) return;
    throw InputError(fmt::format(
        "{}: its machine code is for sm_{}, and {} has compute capability {}.{}; expected machine code for sm_{}, or "
        "PTX",
        where, of_code, gpu.name(), of_gpu / 10, of_gpu % 10, of_gpu));
}

void check_limit(const device::Device& gpu, device::Attribute attribute, std::uint64_t asked, std::string_view what,
                 std::string_view unit) {
    const auto most = gpu.attribute(attribute);
    if (most && asked > static_cast<std::uint64_t>(*most))
        throw InputError(
            fmt::format("{}: found {} {}; expected at most {}, the limit of {}", what, asked, unit, *most, gpu.name()));
}

void check_shape(const device::Device& gpu, const device::Dim3& grid, const device::Dim3& block, std::uint64_t shared,
                 const ShapeNames& names) {
    using enum device::Attribute;
    check_limit(gpu, max_grid_x, grid.x, names.grid, "blocks in x");
    check_limit(gpu, max_grid_y, grid.y, names.grid, "blocks in y");
    check_limit(gpu, max_grid_z, grid.z, names.grid, "blocks in z");
    check_limit(gpu, max_threads_per_block, block.count(), names.block, "threads");
    check_limit(gpu, max_block_x, block.x, names.block, "threads in x");
    check_limit(gpu, max_block_y, block.y, names.block, "threads in y");
    check_limit(gpu, max_block_z, block.z, names.block, "threads in z");
    check_limit(gpu, max_shared_memory_per_block_optin, shared, names.shared, "bytes");
}

}  // namespace gputomo::answer
