#include "launch/kernel_code.hpp"

#include "ptx/names.hpp"
#include "ptx/parser.hpp"
#include "sass/cubin.hpp"
#include "sass/kernel_info.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace gputomo::launch {
namespace {

sass::Cubin cubin_of(std::string_view code, const std::string& origin) {
    try {
        return sass::Cubin(std::as_bytes(std::span(code)));
    } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", origin, e.what()));
    }
}

ptx::Module ptx_of(std::string_view code, const std::string& origin) {
    return ptx::parse(code, origin, ptx::Unknown::is_kept);
}

void check_name(const std::vector<std::string>& kernels, const std::string& name, const std::string& origin) {
    if (std::ranges::find(kernels, name) != kernels.end()) return;
    throw InputError(
        fmt::format("{}: no kernel '{}'; expected {}", origin, name,
                    kernels.empty() ? "code with a kernel" : fmt::format("one of {}", fmt::join(kernels, ", "))));
}

std::vector<std::string> kernels_of(const sass::Cubin& cubin) {
    std::vector<std::string> kernels;
    for (auto& function : cubin.kernels())
        if (sass::is_kernel(cubin, function)) kernels.push_back(std::move(function));
    return kernels;
}

std::vector<std::string> kernels_of(const ptx::Module& module) {
    std::vector<std::string> kernels;
    for (const auto& kernel : module.kernels) kernels.push_back(kernel.name);
    return kernels;
}

KernelCode code_in_cubin(const sass::Cubin& cubin, const std::string& name) {
    const auto info = sass::kernel_info(cubin, name);
    KernelCode code{.name = name,
                    .machine_code = true,
                    .sm = cubin.sm().value_or(0),
                    .registers = info.registers,
                    .stack_bytes = info.stack_bytes,
                    .max_threads = info.max_threads,
                    .block = info.block};
    for (const auto& parameter : info.parameters)
        code.parameters.push_back({.offset = parameter.offset, .bytes = parameter.bytes});
    if (const auto* const shared = cubin.section(".nv.shared." + name)) code.static_shared_bytes = shared->size;
    return code;
}

/// Parameters lie in order, each at a multiple of its alignment (PTX ISA, 7.1).
KernelCode code_in_ptx(const ptx::Module& module, const ptx::Kernel& kernel) {
    if (!kernel.refusal.empty()) throw InputError(kernel.refusal);
    KernelCode code{.name = kernel.name, .sm = module.target_sm, .max_threads = kernel.max_threads.value_or(0)};
    std::uint64_t end = 0;
    for (const auto& parameter : kernel.parameters) {
        const auto bytes = static_cast<std::uint64_t>(parameter.size.count());
        const auto element = static_cast<std::uint64_t>(ptx::size_of(parameter.type).count());
        const auto alignment = std::max(element, static_cast<std::uint64_t>(parameter.alignment.count()));
        const auto offset = (end + alignment - 1) / alignment * alignment;
        const bool is_array = bytes != element;
        code.parameters.push_back({.offset = offset,
                                   .bytes = bytes,
                                   .name = parameter.name,
                                   .type = is_array ? "" : std::string(ptx::name_of(parameter.type))});
        end = offset + bytes;
    }
    return code;
}

}  // namespace

std::vector<std::string> kernels_in(std::string_view code, const std::string& origin) {
    return sass::is_cubin(code) ? kernels_of(cubin_of(code, origin)) : kernels_of(ptx_of(code, origin));
}

KernelCode kernel_code(std::string_view code, const std::string& name, const std::string& origin) {
    if (sass::is_cubin(code)) {
        const auto cubin = cubin_of(code, origin);
        check_name(kernels_of(cubin), name, origin);
        return code_in_cubin(cubin, name);
    }
    const auto module = ptx_of(code, origin);
    check_name(kernels_of(module), name, origin);
    return code_in_ptx(module, *std::ranges::find(module.kernels, name, &ptx::Kernel::name));
}

}  // namespace gputomo::launch
