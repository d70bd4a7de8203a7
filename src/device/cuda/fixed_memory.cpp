#include "device/cuda/fixed_memory.hpp"

#include "units/error.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace gputomo::device::cuda {
namespace {

constexpr abi::Result kOutOfMemory = 2;

std::size_t size_of_host_page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

void* host_pointer(Address address) { return reinterpret_cast<void*>(address); }

}  // namespace

FixedMemory::~FixedMemory() { release_all(); }

std::optional<std::pair<Address, FixedMemory::Piece>> FixedMemory::piece_at(Address address) const {
    const auto after = pieces_.upper_bound(address);
    if (after == pieces_.begin()) return std::nullopt;
    const auto& [base, piece] = *std::prev(after);
    if (address - base >= piece.size) return std::nullopt;
    return std::pair(base, piece);
}

bool FixedMemory::is_of_host(Address address) const {
    const auto piece = piece_at(address);
    return piece && piece->second.space == MemorySpace::host;
}

Address FixedMemory::allocate(Address address, Bytes size, MemorySpace space, std::size_t granularity) {
    const auto bytes = static_cast<std::size_t>(size.count());
    const std::string what =
        fmt::format("{} B of {} memory for {:#x}", bytes, space == MemorySpace::host ? "host" : "device", address);
    session_.enter(what);
    if (space == MemorySpace::host) granularity = size_of_host_page();
    if (granularity == 0)
        throw DeviceError(
            fmt::format("{}: {}: this GPU or driver has no virtual memory management, which memory at "
                        "its recorded address needs",
                        session_.id(), what));
    const Address begin = address / granularity * granularity;
    const Address end = (address + bytes + granularity - 1) / granularity * granularity;
    Address at = begin;
    while (at < end) {
        if (const auto found = piece_at(at); found && found->second.space == space && found->second.as_wished) {
            at = found->first + found->second.size;
            continue;
        }
        const auto next = pieces_.upper_bound(at);
        const Address until = next == pieces_.end() ? end : std::min(end, next->first);
        const Address made = map(at, until - at, space, what);
        if (made != at) break;
        at = until;
    }
    Address place = address;
    if (at < end) {
        // The last piece is elsewhere. It serves where it is for all of the allocation.
        const bool is_whole = at == begin && pieces_.lower_bound(begin) == pieces_.lower_bound(end);
        place = (is_whole ? last_ : map(begin, end - begin, space, what)) + (address - begin);
    }
    allocations_.emplace(place, bytes);
    return place;
}

Address FixedMemory::map(Address wanted, std::size_t size, MemorySpace space, const std::string& what) {
    last_ = space == MemorySpace::device ? map_device(wanted, size, what) : map_host(wanted, size, what);
    pieces_.at(last_).as_wished = last_ == wanted;
    return last_;
}

Address FixedMemory::map_device(Address wanted, std::size_t size, const std::string& what) {
    const auto& call = session_.call();
    // The driver takes the address as a wish.
    Address address = 0;
    session_.check(call.mem_address_reserve(&address, size, 0, wanted, 0), "cuMemAddressReserve", what);
    Piece piece{.size = size};
    abi::AllocationProperties properties{};
    properties.type = abi::kAllocationPinned;
    properties.location = {abi::kLocationDevice, session_.device()};
    const abi::Result created = call.mem_create(&piece.handle, size, &properties, 0);
    if (created != abi::kSuccess) {
        call.mem_address_free(address, size);
        if (created == kOutOfMemory)
            throw DeviceError(
                fmt::format("{}: {}: the GPU has too little free memory for {} B; expected a GPU with as "
                            "much as the one that was recorded, and no other program on it",
                            session_.id(), what, size));
        session_.check(created, "cuMemCreate", what);
    }
    const abi::AccessDescription access{{abi::kLocationDevice, session_.device()}, abi::kAccessReadWrite};
    abi::Result mapped = call.mem_map(address, size, 0, piece.handle, 0);
    const char* failed = "cuMemMap";
    if (mapped == abi::kSuccess) {
        failed = "cuMemSetAccess";
        mapped = call.mem_set_access(address, size, &access, 1);
        if (mapped != abi::kSuccess) call.mem_unmap(address, size);
    }
    if (mapped != abi::kSuccess) {
        call.mem_release(piece.handle);
        call.mem_address_free(address, size);
        session_.check(mapped, failed, what);
    }
    pieces_.emplace(address, piece);
    return address;
}

Address FixedMemory::map_host(Address wanted, std::size_t size, const std::string& what) {
    const auto& call = session_.call();
    if (call.mem_host_register == nullptr || call.mem_host_unregister == nullptr)
        throw DeviceError(fmt::format("{}: {}: this driver cannot map memory of the host", session_.id(), what));
    // Without MAP_FIXED, the system takes the address as a wish too.
    void* const made = mmap(host_pointer(wanted), size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        throw DeviceError(
            fmt::format("{}: {}: the host has no such memory: {}", session_.id(), what, std::strerror(errno)));
    const abi::Result result = call.mem_host_register(made, size, abi::kHostPortableAndMapped);
    if (result != abi::kSuccess) munmap(made, size);
    session_.check(result, "cuMemHostRegister_v2", what);
    const auto address = reinterpret_cast<Address>(made);
    pieces_.emplace(address, Piece{.size = size, .space = MemorySpace::host});
    return address;
}

bool FixedMemory::give_back(Address address) noexcept {
    const auto found = allocations_.find(address);
    if (found == allocations_.end()) return false;
    allocations_.erase(found);
    if (allocations_.empty()) release_all();
    return true;
}

void FixedMemory::release_all() noexcept {
    if (!session_.try_enter()) return;
    const auto& call = session_.call();
    for (const auto& [address, piece] : pieces_) {
        if (piece.space == MemorySpace::host) {
            call.mem_host_unregister(host_pointer(address));
            munmap(host_pointer(address), piece.size);
            continue;
        }
        call.mem_unmap(address, piece.size);
        call.mem_release(piece.handle);
        call.mem_address_free(address, piece.size);
    }
    pieces_.clear();
    allocations_.clear();
}

}  // namespace gputomo::device::cuda
