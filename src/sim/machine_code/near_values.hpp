// What a load may see that an SM's own cache serves: not what other SMs have written meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gputomo::sim::machine_code {

class NearValues {
public:
    NearValues() = default;
    NearValues(const NearValues&) = delete;
    NearValues& operator=(const NearValues&) = delete;
    virtual ~NearValues() = default;

    /// An atomic is about to change bytes of global memory at this address.
    virtual void before_atomic(std::uint64_t address) = 0;
    /// A store has written these bytes of global memory. The SM's own cache has them, if it holds the sector.
    virtual void after_store(std::uint64_t address, std::uint64_t bytes) = 0;
    /// The bytes that a load from global memory sees which the SM's own cache may serve. `memory` holds them at the
    /// moment. The pointer holds until the next call.
    [[nodiscard]] virtual const std::byte* seen(std::uint64_t address, const std::byte* memory) = 0;
};

}  // namespace gputomo::sim::machine_code
