// Memory at given addresses, or elsewhere: of the GPU through the driver's virtual memory management, or of the host.
#pragma once

#include "device/cuda/session.hpp"
#include "device/device.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace gputomo::device::cuda {

/// The driver maps whole pages, and several allocations may share one. Pages stay mapped until the last allocation is
/// given back.
class FixedMemory {
public:
    explicit FixedMemory(Session& session) : session_(session) {}
    FixedMemory(const FixedMemory&) = delete;
    FixedMemory& operator=(const FixedMemory&) = delete;
    ~FixedMemory();

    /// Returns the address, or another one where it cannot be had. Throws DeviceError where memory is not enough.
    [[nodiscard]] Address allocate(Address address, Bytes size, MemorySpace space, std::size_t granularity);
    /// False where no allocation begins at the address.
    bool give_back(Address address) noexcept;
    /// Whether the address lies in memory of the host that allocate() made.
    [[nodiscard]] bool is_of_host(Address address) const;

private:
    /// Pages that were mapped together.
    struct Piece {
        std::size_t size = 0;
        MemorySpace space = MemorySpace::device;
        abi::AllocationHandle handle = 0;
        /// It is where it was wished. A piece that is elsewhere has no room for an allocation with that address.
        bool as_wished = false;
    };
    /// The piece that holds the address; nullopt if there is none.
    [[nodiscard]] std::optional<std::pair<Address, Piece>> piece_at(Address address) const;
    /// Maps new pages at `wanted` where it is free, or else anywhere. Returns where.
    Address map(Address wanted, std::size_t size, MemorySpace space, const std::string& what);
    Address map_device(Address wanted, std::size_t size, const std::string& what);
    Address map_host(Address wanted, std::size_t size, const std::string& what);
    void release_all() noexcept;

    Session& session_;
    std::map<Address, Piece> pieces_;
    std::map<Address, std::size_t> allocations_;  ///< address and bytes
    Address last_ = 0;                            ///< where the last piece was mapped
};

}  // namespace gputomo::device::cuda
