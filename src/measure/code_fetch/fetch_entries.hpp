// Code entered anywhere, in an order that nobody foresees: where a warp has to wait for what comes next.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::measure {

/// Times from one clock read to the next one in the code, of all visits.
struct FetchPlaceTimes {
    std::uint64_t offset = 0;  ///< of the later read in the code, bytes
    std::vector<double> cycles;
};

/// One thread jumps to pieces of code in random order, each a row of clock reads at another place of a line. Straight
/// code is fetched ahead of a warp that walks through it; a jump into a line's end leaves no time for that, so that the
/// next line's first read waits.
class FetchEntries {
public:
    static constexpr std::uint32_t kEntries = 256;
    explicit FetchEntries(device::Device& device);
    /// Has its kernel compiled.
    static void compile_ahead(device::Device& device);
    /// Visits every `every`-th piece, `laps` times behind two laps that don't count; empty where the compiler made
    /// something else of the rows.
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
