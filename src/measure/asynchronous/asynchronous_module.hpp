// Launches the kernels that time asynchronous copies, barriers in shared memory and clusters.
#pragma once

#include "device/device.hpp"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace gputomo::measure {

/// Whether the device executes the kernels: only GPUs of compute capability 9.0 do. Simulated GPUs of that capability
/// may have less shared memory than the kernels need.
[[nodiscard]] bool executes_asynchronous_kernels(const device::Device& device);

/// The cubin of the kernels, as the driver loads it.
[[nodiscard]] std::vector<char> asynchronous_cubin();

/// The grid of a launch of these kernels.
struct AsynchronousGrid {
    std::uint32_t blocks = 1;
    std::uint32_t threads = 1;  ///< of a block
    std::uint32_t cluster = 0;  ///< blocks of a cluster; 0: the launch has no clusters
    Bytes shared{0};            ///< dynamic shared memory of a block
};

/// The loaded kernels and the memory that their first parameter names, where they leave their results.
class AsynchronousModule {
public:
    /// Throws DeviceError as device::Device::load() does.
    explicit AsynchronousModule(device::Device& device);

    /// Runs a kernel whose parameters behind the first are `arguments`, words of 32 bits unless `data` is given, which
    /// then comes before them as an address. Returns the first `words` words that it left. Throws DeviceError.
    [[nodiscard]] std::vector<std::uint32_t> run(std::string_view kernel, const AsynchronousGrid& grid,
                                                 std::size_t words, const std::vector<std::uint32_t>& arguments,
                                                 device::Address data = 0);
    /// How long a kernel takes that has no parameter but that of the results. Throws DeviceError.
    [[nodiscard]] Nanoseconds time(std::string_view kernel, const AsynchronousGrid& grid);

private:
    [[nodiscard]] device::LaunchResult launch(std::string_view kernel, const AsynchronousGrid& grid,
                                              const std::vector<std::uint32_t>& arguments, device::Address data);
    std::unique_ptr<device::Module> module_;
    device::Buffer results_;
};

}  // namespace gputomo::measure
