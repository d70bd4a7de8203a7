#include "cli/inputs/launches.hpp"

#include "answer/fits.hpp"
#include "answer/program.hpp"
#include "cli/inputs/machine_code.hpp"
#include "cli/terminal/messages.hpp"
#include "ptx/parser.hpp"
#include "sass/cubin.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

namespace gputomo::cli {
namespace {

/// What is executed, and what the kernel asks for.
struct KernelCode {
    std::string code;
    Signature signature;
};

Signature signature_in_cubin(const std::string& code, const LaunchOptions& options) {
    try {
        return signature_of(sass::Cubin(std::as_bytes(std::span(code))), options.kernel, options.file);
    } catch (const InputError& e) {
        const std::string_view what = e.what();
        throw InputError(what.starts_with(options.file) ? std::string(what)
                                                        : fmt::format("{}: {}", options.file, what));
    }
}

/// Reads the file, and compiles PTX where machine code is asked for.
KernelCode kernel_code(const LaunchOptions& options, const CodeOptions& wanted, const device::Device& gpu) {
    auto [code, is_extracted] =
        read_code(options.file, gpu.ptx_target().sm, wanted.ptx ? CodeWish::ptx : CodeWish::any);
    if (sass::is_cubin(code)) {
        if (wanted.ptx)
            throw InputError(fmt::format(
                "--code ptx: {} is a cubin, which has no PTX; expected a PTX file, or --code sass", options.file));
        check_machine_code(gpu, options.file, "a PTX file, or a GPU of that compute capability");
        auto signature = signature_in_cubin(code, options);
        check_cubin(gpu, code, options.file);
        return {std::move(code), std::move(signature)};
    }
    const auto parsed = ptx::parse(code, options.file, ptx::Unknown::is_kept);
    const auto& kernel = find_kernel(parsed, options.kernel, options.file);
    if (!kernel.refusal.empty()) throw InputError(kernel.refusal);
    auto signature = signature_of(kernel);
    if (wanted.machine_code) {
        check_machine_code(gpu, wanted.needed_by, "a GPU of that compute capability, or PTX that is executed as it is");
        code = compile_ptx({.file = options.file,
                            .extracted = is_extracted ? code : "",
                            .target_sm = parsed.target_sm,
                            .target_suffix = parsed.target_suffix},
                           answer::machine_code_for(gpu.ptx_target().sm), wanted.needed_by, wanted.otherwise);
    }
    return {std::move(code), std::move(signature)};
}

}  // namespace

bool is_capture(const std::string& file) { return std::filesystem::is_directory(file); }

launch::Launch launch_of_file(const LaunchOptions& options, const CodeOptions& code, const device::Device& gpu) {
    if (options.kernel.empty())
        throw InputError(fmt::format("--kernel: missing; expected a kernel of {}", options.file));
    auto kernel = kernel_code(options, code, gpu);
    if (!kernel.signature.block && sass::is_cubin(kernel.code))  // PTX that was compiled
        kernel.signature.block = signature_in_cubin(kernel.code, options).block;
    const auto shape = launch_shape(options.shape, gpu, kernel.signature.block);
    answer::check_limit(gpu, device::Attribute::max_shared_memory_per_block_optin,
                        static_cast<std::uint64_t>(options.shared), "--shared", "bytes");
    auto arguments = parse_arguments(options.arguments, kernel.signature);
    if (arguments.hidden > 0)
        out::note(
            "the last {} parameters of {} are 0: pointers to scratch memory, as Triton adds them, that the code "
            "never reads",
            arguments.hidden, options.kernel);
    if (options.shape.block.empty() && kernel.signature.block)
        out::note("--block is {},{},{}: the code is for blocks of that size alone", shape.block.x, shape.block.y,
                  shape.block.z);
    return {.code = std::move(kernel.code),
            .kernel = options.kernel,
            .origin = options.file,
            .grid = shape.grid,
            .block = shape.block,
            .dynamic_shared = static_cast<std::uint64_t>(options.shared),
            .arguments = std::move(arguments.values),
            .buffers = std::move(arguments.buffers)};
}

std::vector<std::size_t> named_launches(const capture::Capture& captured, const LaunchOptions& options) {
    std::vector<std::size_t> named;
    for (const int number : options.launches) {
        if (number < 0 || static_cast<std::size_t>(number) >= captured.launches.size())
            throw InputError(fmt::format("--launch {}: {} has {} launches, counted from 0", number, options.file,
                                         captured.launches.size()));
        named.push_back(static_cast<std::size_t>(number));
    }
    if (!named.empty()) return named;
    for (std::size_t i = 0; i < captured.launches.size(); ++i) {
        const auto& launch = captured.launches[i];
        if (!launch.kernel || !launch.buffers) continue;
        const auto& kernel = captured.kernels[static_cast<std::size_t>(launch.kernel->kernel)];
        const auto& name = options.kernel;
        if (name.empty() || kernel.name == name || kernel.readable == name ||
            answer::short_name(kernel.readable) == name)
            named.push_back(i);
    }
    if (named.empty())
        throw InputError(fmt::format("{}: no launch with memory{}{}", options.file,
                                     options.kernel.empty() ? "" : " of the kernel ", options.kernel));
    return named;
}

}  // namespace gputomo::cli
