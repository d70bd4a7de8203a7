#include "measure/asynchronous/asynchronous_module.hpp"

#include "measure/asynchronous/kernels.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <string>

namespace gputomo::measure {
namespace {

constexpr int kAsynchronousCapability = 90;
/// Shared memory of the largest block that the kernels are launched with.
constexpr std::int64_t kAsynchronousShared = 200 * 1024;
constexpr std::int64_t kAsynchronousResultBytes = 256 * 1024;

int hex_digit_of(char letter) { return letter <= '9' ? letter - '0' : letter - 'a' + 10; }

}  // namespace

bool executes_asynchronous_kernels(const device::Device& device) {
    const auto shared = device.attribute(device::Attribute::max_shared_memory_per_block_optin);
    return device.ptx_target().sm == kAsynchronousCapability && shared.value_or(0) >= kAsynchronousShared;
}

std::vector<char> asynchronous_cubin() {
    std::vector<char> bytes;
    int upper = -1;
    for (const char letter : asynchronous_kernels()) {
        if (letter == '\n') continue;
        if (upper < 0) {
            upper = hex_digit_of(letter);
            continue;
        }
        bytes.push_back(static_cast<char>(16 * upper + hex_digit_of(letter)));
        upper = -1;
    }
    return bytes;
}

AsynchronousModule::AsynchronousModule(device::Device& device) : results_(device, Bytes{kAsynchronousResultBytes}) {
    const auto cubin = asynchronous_cubin();
    module_ = device.load({cubin.data(), cubin.size()});
}

std::vector<std::uint32_t> AsynchronousModule::run(std::string_view kernel, const AsynchronousGrid& grid,
                                                   std::size_t words, const std::vector<std::uint32_t>& arguments,
                                                   device::Address data) {
    if (static_cast<std::int64_t>(words * sizeof(std::uint32_t)) > kAsynchronousResultBytes)
        throw InputError(fmt::format("kernel {}: {} words of results asked; {} bytes are there", kernel, words,
                                     kAsynchronousResultBytes));
    static_cast<void>(launch(kernel, grid, arguments, data));
    return results_.read<std::uint32_t>(words);
}

Nanoseconds AsynchronousModule::time(std::string_view kernel, const AsynchronousGrid& grid) {
    return launch(kernel, grid, {}, 0).elapsed;
}

device::LaunchResult AsynchronousModule::launch(std::string_view kernel, const AsynchronousGrid& grid,
                                                const std::vector<std::uint32_t>& arguments, device::Address data) {
    device::Launch launch{.grid = {grid.blocks}, .block = {grid.threads}, .dynamic_shared = grid.shared};
    if (grid.cluster > 0) launch.cluster = device::Dim3{grid.cluster};
    launch.arguments.add(results_.address());
    if (data != 0) launch.arguments.add(data);
    for (const auto argument : arguments) launch.arguments.add(argument);
    return module_->kernel(kernel).launch(launch);
}

}  // namespace gputomo::measure
