// One launch of a kernel: what the program passed to the driver, and the copy of it that is recorded.
#pragma once

#include "capture/interposer/abi.hpp"
#include "capture/interposer/code_registry.hpp"
#include "capture/interposer/text.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gputomo::capture {

/// A launch as the driver is asked for it.
struct Launch {
    const void* kernel = nullptr;  ///< CUfunction or CUkernel
    unsigned grid[3] = {}, block[3] = {};
    unsigned cluster[3] = {};  ///< 0 where none is asked for
    unsigned shared_bytes = 0;
    bool cooperative = false;
    abi::Stream stream = nullptr;
    void** parameters = nullptr;
    void** extra = nullptr;

    void set_grid(unsigned x, unsigned y, unsigned z) { grid[0] = x, grid[1] = y, grid[2] = z; }
    void set_block(unsigned x, unsigned y, unsigned z) { block[0] = x, block[1] = y, block[2] = z; }
    void set_attributes(const abi::LaunchAttribute* attributes, unsigned count);
};

/// A copy of a launch that outlives the call.
struct LaunchRecord {
    std::shared_ptr<KernelEntry> kernel;
    unsigned grid[3] = {}, block[3] = {}, cluster[3] = {};
    unsigned shared_bytes = 0;
    bool cooperative = false;
    struct Parameter {
        std::uint64_t offset;
        std::vector<unsigned char> bytes;
    };
    std::vector<Parameter> parameters;
    bool parameters_known = false;

    /// Copies the launch of `kernel`.
    LaunchRecord(const Launch& launch, std::shared_ptr<KernelEntry> kernel);

    /// Adds what the launch is, but not when or where.
    void add_to(JsonLine& line) const;
    /// The values in the parameters that could be addresses.
    void collect_values(std::vector<std::uint64_t>& values) const;
    /// Equal for launches of one kernel with one shape.
    [[nodiscard]] std::string shape() const;
};

}  // namespace gputomo::capture
