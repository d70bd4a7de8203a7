// Windows of virtual addresses that map one physical allocation many times.
#pragma once

#include "device/cuda/session.hpp"
#include "device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace gputomo::device::cuda {

class AliasedMemory {
public:
    explicit AliasedMemory(Session& session) : session_(session) {}
    AliasedMemory(const AliasedMemory&) = delete;
    AliasedMemory& operator=(const AliasedMemory&) = delete;
    ~AliasedMemory();

    /// As Device::mapping_granularity.
    [[nodiscard]] Bytes granularity() const;
    /// As Device::map_aliased. Reuses a window of the same shape that was given back, because mapping 32,768 pages
    /// takes a second and unmapping them half a second.
    [[nodiscard]] Address map(Bytes physical, Bytes stride, Bytes window);
    /// Gives a window back; the last few stay mapped for reuse. Returns false if `address` is no start of a window.
    bool give_back(Address address) noexcept;

private:
    struct Window {
        std::size_t size = 0;          ///< bytes of address space
        std::size_t physical = 0;      ///< bytes of each mapping
        std::size_t stride = 0;        ///< bytes from one mapping to the next
        std::uint64_t given_back = 0;  ///< serial number of its return; 0: in use
        abi::AllocationHandle handle = 0;
        bool has_handle = false;
        std::vector<Address> mapped;
    };
    [[nodiscard]] abi::AllocationProperties properties() const;
    void check_request(Bytes physical, Bytes stride, Bytes window) const;
    void fill(Window& window, Address base, std::size_t stride);
    void allow_access(const Window& window, Address base, std::size_t stride);
    void release(Address base, const Window& window) noexcept;
    void release_all_but(std::size_t kept) noexcept;

    Session& session_;
    std::map<Address, Window> windows_;
    std::uint64_t given_back_ = 0;
};

}  // namespace gputomo::device::cuda
