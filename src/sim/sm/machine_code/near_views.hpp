// What the SMs' own caches hold of sectors that atomics change. Atomics change the cache of all SMs. A load which its
// SM's own cache serves sees what was there when that cache was filled.
#pragma once

#include "sim/machine_code/near_values.hpp"
#include "sim/memory/device_memory.hpp"
#include "sim/memory/memory_system.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace gputomo::sim {

class NearViews final : public machine_code::NearValues {
public:
    NearViews(const MemorySystem& system, const DeviceMemory& memory) : system_(system), memory_(memory) {}

    /// The next accesses are those of this scheduler.
    void select(std::uint32_t sm, std::uint32_t scheduler) {
        sm_ = sm;
        scheduler_ = scheduler;
    }
    void before_atomic(std::uint64_t address) override;
    void after_store(std::uint64_t address, std::uint64_t bytes) override;
    [[nodiscard]] const std::byte* seen(std::uint64_t address, const std::byte* memory) override;

private:
    static constexpr std::uint64_t kSector = 32;
    using Content = std::array<std::byte, kSector>;
    struct Changed {
        Content before{};  ///< what caches hold that were filled before the first atomic
        std::unordered_map<std::uint32_t, Content> of_sm;  ///< what those hold that were filled later
    };

    [[nodiscard]] Content content_of(std::uint64_t sector) const;

    const MemorySystem& system_;
    const DeviceMemory& memory_;
    std::uint32_t sm_ = 0, scheduler_ = 0;
    std::unordered_map<std::uint64_t, Changed> changed_;  ///< by number of the sector
};

}  // namespace gputomo::sim
