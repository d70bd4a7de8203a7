// Fuzzes the execution of machine code on a simulated H200. Any cubin must run to its end or to its time limit, or give
// one of the project's errors.
#include "machine/json.hpp"
#include "sass/cubin.hpp"
#include "sass/kernel_info.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"
#include "units/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace gputomo;

/// A buffer for each parameter that has room for a pointer.
void launch(sim::SimulatedDevice& gpu, device::Module& module, const sass::Cubin& cubin, const std::string& kernel) {
    constexpr Bytes kBuffer(4096);
    std::vector<device::Buffer> buffers;
    device::Launch launch{.grid = {2}, .block = {64}, .time_limit = std::chrono::milliseconds(100)};
    for (const auto& parameter : sass::kernel_info(cubin, kernel).parameters) {
        if (parameter.bytes == sizeof(device::Address))
            launch.arguments.add(buffers.emplace_back(gpu, kBuffer).address());
        else
            launch.arguments.add(std::uint32_t{64});
    }
    module.kernel(kernel).launch(launch);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto h200 = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    try {
        const sass::Cubin cubin(std::as_bytes(std::span(data, size)));
        for (const auto& kernel : cubin.kernels()) {
            const auto gpu = sim::make_device(h200, {});
            const auto module = gpu->load({reinterpret_cast<const char*>(data), size});
            launch(*gpu, *module, cubin, kernel);
        }
    } catch (const Error&) {}
    return 0;
}
