// Keeps what blocks overwrite, so that memory can be given back as it was.
#pragma once

#include "sim/memory/device_memory.hpp"
#include "units/number_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gputomo::launch {

class SavedMemory {
public:
    explicit SavedMemory(const sim::DeviceMemory& memory) : memory_(memory) {}

    /// These bytes are about to be written.
    void save(std::uint64_t address, std::uint64_t bytes);
    /// Gives memory the content that it had when the first bytes were saved, and forgets it.
    void restore();

private:
    const sim::DeviceMemory& memory_;
    NumberSet saved_;  ///< sectors
    /// What memory held: address and bytes.
    std::vector<std::pair<std::uint64_t, std::array<std::byte, 32>>> sectors_;
    std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> pieces_;
};

}  // namespace gputomo::launch
