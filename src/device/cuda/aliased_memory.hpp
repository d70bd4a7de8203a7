// Virtual address windows in which one physical allocation appears again and again.
#pragma once

#include "device/cuda/session.hpp"
#include "device/device.hpp"

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
    /// As Device::map_aliased.
    [[nodiscard]] Address map(Bytes physical, Bytes stride, Bytes window);
    /// False when `address` is not the start of a window.
    bool unmap(Address address) noexcept;

private:
    struct Window {
        std::size_t size = 0;      ///< bytes of address space
        std::size_t physical = 0;  ///< bytes of each mapping
        abi::AllocationHandle handle = 0;
        bool has_handle = false;
        std::vector<Address> mapped;
    };
    [[nodiscard]] abi::AllocationProperties properties() const;
    void check_request(Bytes physical, Bytes stride, Bytes window) const;
    void fill(Window& window, Address base, std::size_t stride);
    void allow_access(const Window& window, Address base, std::size_t stride);
    void release(Address base, const Window& window) noexcept;

    Session& session_;
    std::map<Address, Window> windows_;
};

}  // namespace gputomo::device::cuda
