// Code entered at random places: where a warp has to wait for the next line.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::measure {

/// Cycles from one clock read to the next one in the code, of all visits.
struct FetchPlaceTimes {
    std::uint64_t offset = 0;  ///< of the later read in the code, bytes
    std::vector<double> cycles;
};

/// One thread jumps in random order to pieces of code, each a row of clock reads at another place of a line. The
/// hardware fetches straight code ahead of a warp. A jump to the end of a line leaves no time for that, so the first
/// read in the next line waits.
class FetchEntries {
public:
    /// Pieces of code. A run may visit only some of them.
    static constexpr std::uint32_t kEntries = 256;
    explicit FetchEntries(device::Device& device);
    /// Compiles the kernel ahead of its use.
    static void compile_ahead(device::Device& device);
    /// Visits every `every`-th piece `passes` times, after two passes that do not count. Empty if the compiler changed
    /// the rows.
    [[nodiscard]] std::vector<FetchPlaceTimes> run(std::uint32_t every, std::size_t passes);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    FetchEntries(device::Device& device, const ptx::KernelBuilder& written);
    device::Device& device_;
    CompiledKernel kernel_;
    std::vector<std::uint64_t> offsets_;  ///< of each row's reads but the first
};

[[nodiscard]] ptx::KernelBuilder fetch_entries_kernel(ptx::Target target);

}  // namespace gputomo::measure
