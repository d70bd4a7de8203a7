#include "answer/fits.hpp"

#include "sass/cubin.hpp"
#include "sim/machine_code/program.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <span>

namespace gputomo::answer {

void check_machine_code(const device::Device& gpu, const std::string& where, std::string_view expected) {
    const int sm = gpu.ptx_target().sm;
    if (!sim::machine_code::executes(sm))
        throw InputError(
            fmt::format("{}: machine code is executed on compute capability 8.0, 8.6, 8.9 and 9.0 only, and {} has "
                        "{}.{}; expected {}",
                        where, gpu.name(), sm / 10, sm % 10, expected));
}

void check_cubin(const device::Device& gpu, std::string_view cubin, const std::string& where) {
    const int of_gpu = gpu.ptx_target().sm;
    const int of_code = sass::Cubin(std::as_bytes(std::span(cubin))).sm().value_or(0);
    if (of_code / 10 == of_gpu / 10 && of_code <= of_gpu) return;
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
