#include "device/cuda/aliased_memory.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace gputomo::device::cuda {
namespace {

/// Returned windows that stay mapped, because the next experiment may need the same. More would hold address space and
/// memory that other allocations may need.
constexpr std::size_t kMostKept = 2;

}  // namespace

AliasedMemory::~AliasedMemory() {
    if (!session_.try_enter()) return;
    for (const auto& [base, window] : windows_) release(base, window);
}

abi::AllocationProperties AliasedMemory::properties() const {
    abi::AllocationProperties properties{};
    properties.type = abi::kAllocationPinned;
    properties.location = {abi::kLocationDevice, session_.device()};
    return properties;
}

Bytes AliasedMemory::granularity() const {
    const auto& call = session_.call();
    if (call.mem_get_allocation_granularity == nullptr || call.mem_map == nullptr || call.mem_set_access == nullptr)
        return Bytes{0};
    if (!session_.try_enter()) return Bytes{0};
    int supported = 0;
    if (call.device_get_attribute(&supported, abi::kAttributeVirtualMemoryManagement, session_.device()) !=
            abi::kSuccess ||
        supported == 0)
        return Bytes{0};
    std::size_t granularity = 0;
    const auto wanted = properties();
    if (call.mem_get_allocation_granularity(&granularity, &wanted, abi::kGranularityMinimum) != abi::kSuccess)
        return Bytes{0};
    return Bytes(static_cast<std::int64_t>(granularity));
}

void AliasedMemory::check_request(Bytes physical, Bytes stride, Bytes window) const {
    const Bytes unit = granularity();
    if (unit == Bytes{0})
        throw DeviceError(fmt::format("{}: this GPU or driver has no virtual memory management", session_.id()));
    const bool aligned = physical % unit == Bytes{0} && stride % unit == Bytes{0} && window % unit == Bytes{0};
    if (aligned && physical > Bytes{0} && stride >= physical && window >= physical) return;
    throw DeviceError(
        fmt::format("{}: map_aliased of {} B every {} B in a window of {} B: expected multiples of {} B with "
                    "0 < physical <= stride and physical <= window",
                    session_.id(), physical.count(), stride.count(), window.count(), unit.count()));
}

Address AliasedMemory::map(Bytes physical, Bytes stride, Bytes size) {
    session_.enter("map_aliased");
    check_request(physical, stride, size);
    Window window;
    window.size = static_cast<std::size_t>(size.count());
    window.physical = static_cast<std::size_t>(physical.count());
    window.stride = static_cast<std::size_t>(stride.count());
    for (auto& [at, kept] : windows_) {
        if (kept.given_back == 0 || kept.size != window.size || kept.physical != window.physical ||
            kept.stride != window.stride)
            continue;
        kept.given_back = 0;
        return at;
    }
    const auto& call = session_.call();
    Address base = 0;
    session_.check(call.mem_address_reserve(&base, window.size, 0, 0, 0), "cuMemAddressReserve",
                   fmt::format("{} B", window.size));
    try {
        fill(window, base, window.stride);
    } catch (...) {
        if (session_.try_enter()) release(base, window);
        throw;
    }
    windows_.emplace(base, std::move(window));
    return base;
}

void AliasedMemory::fill(Window& window, Address base, std::size_t stride) {
    const auto& call = session_.call();
    const auto wanted = properties();
    session_.check(call.mem_create(&window.handle, window.physical, &wanted, 0), "cuMemCreate",
                   fmt::format("{} B", window.physical));
    window.has_handle = true;
    window.mapped.reserve(window.size / stride + 1);
    for (std::size_t offset = 0; offset + window.physical <= window.size; offset += stride) {
        session_.check(call.mem_map(base + offset, window.physical, 0, window.handle, 0), "cuMemMap",
                       fmt::format("{} B at offset {} of the window", window.physical, offset));
        window.mapped.push_back(base + offset);
    }
    allow_access(window, base, stride);
}

void AliasedMemory::allow_access(const Window& window, Address base, std::size_t stride) {
    const abi::AccessDescription access{{abi::kLocationDevice, session_.device()}, abi::kAccessReadWrite};
    // Without holes, one call covers the whole window, which saves time for windows of many thousand mappings.
    if (stride == window.physical) {
        session_.check(session_.call().mem_set_access(base, window.mapped.size() * stride, &access, 1),
                       "cuMemSetAccess", fmt::format("{} mappings", window.mapped.size()));
        return;
    }
    for (const Address address : window.mapped)
        session_.check(session_.call().mem_set_access(address, window.physical, &access, 1), "cuMemSetAccess",
                       fmt::format("{} B at offset {} of the window", window.physical, address - base));
}

bool AliasedMemory::give_back(Address address) noexcept {
    const auto found = windows_.find(address);
    if (found == windows_.end()) return false;
    if (found->second.given_back == 0) found->second.given_back = ++given_back_;
    release_all_but(kMostKept);
    return true;
}

void AliasedMemory::release_all_but(std::size_t kept) noexcept {
    const auto age = [](const auto& entry) { return entry.second.given_back; };
    while (static_cast<std::size_t>(
               std::ranges::count_if(windows_, [&](const auto& entry) { return age(entry) != 0; })) > kept) {
        const auto oldest = std::ranges::min_element(
            windows_, {}, [&](const auto& entry) { return age(entry) - 1; });  // of those in use, the most there is
        release(oldest->first, oldest->second);
        windows_.erase(oldest);
    }
}

void AliasedMemory::release(Address base, const Window& window) noexcept {
    const auto& call = session_.call();
    for (const Address address : window.mapped) call.mem_unmap(address, window.physical);
    if (window.has_handle) call.mem_release(window.handle);
    call.mem_address_free(base, window.size);
}

}  // namespace gputomo::device::cuda
