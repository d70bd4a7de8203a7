// The simulated GPU's memory: allocations, aliased windows, and the host's bytes behind them.
#pragma once

#include "sim/memory/memory_system.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace gputomo::sim {

class DeviceMemory : public AddressSpace {
public:
    explicit DeviceMemory(std::uint64_t capacity) : capacity_(capacity) {}

    /// Throws DeviceError when the capacity is used up.
    std::uint64_t allocate(std::uint64_t bytes);
    /// Allocates at a given address. Throws DeviceError when something is there already or the capacity is used up.
    /// An address that had memory before has the same physical place again, so that caches find data of launches
    /// before.
    void allocate_at(std::uint64_t address, std::uint64_t bytes);
    /// Maps one physical allocation at window / stride places (device::Device::map_aliased).
    std::uint64_t map_aliased(std::uint64_t physical_bytes, std::uint64_t stride, std::uint64_t window);
    /// Writes a part of an allocation: the bytes from an offset on, as many as it is given.
    using FillPart = std::function<void(std::uint64_t, std::span<std::byte>)>;
    /// Writes the content of the allocation at this address page by page, when resolve() first names bytes of a page.
    void fill_when_reached(std::uint64_t address, FillPart fill);
    /// Unknown addresses are ignored, as a destructor needs.
    void free(std::uint64_t address) noexcept;

    /// Host bytes behind [address, address + bytes); nullptr where that is not allocated.
    [[nodiscard]] std::byte* resolve(std::uint64_t address, std::uint64_t bytes) const;
    /// Whether the allocation that holds the address is mapped once, so that neighbouring addresses are neighbouring
    /// bytes.
    [[nodiscard]] bool is_plain(std::uint64_t address) const;
    [[nodiscard]] std::uint64_t translate(std::uint64_t address) const override;
    /// Address and bytes of each allocation.
    [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> allocations() const;

private:
    /// Pages that were not reached yet.
    class Unfilled {
    public:
        Unfilled(FillPart fill, std::uint64_t bytes);
        /// Fills the pages that hold these bytes, of an allocation that lies at `memory`.
        void reach(std::byte* memory, std::uint64_t offset, std::uint64_t bytes) {
            for (std::uint64_t page = offset / kPage; page <= (offset + bytes - 1) / kPage; ++page)
                if (unfilled_[page]) fill(memory, page);
        }

    private:
        /// Smaller pages take more time to look up, larger ones to fill.
        static constexpr std::uint64_t kPage = 4096;
        void fill(std::byte* memory, std::uint64_t page);

        FillPart fill_;
        std::uint64_t bytes_;
        std::vector<bool> unfilled_;
    };
    struct Range {
        std::uint64_t size = 0;      ///< of the virtual window
        std::uint64_t stride = 0;    ///< distance of two images of the physical allocation
        std::uint64_t backed = 0;    ///< bytes of the physical allocation
        std::uint64_t physical = 0;  ///< physical address
        std::shared_ptr<std::byte> bytes;
        std::shared_ptr<Unfilled> unfilled;  ///< nullptr: all is filled
    };
    struct Found {
        std::uint64_t base = 0;
        const Range* range = nullptr;
    };
    /// Where the first allocation ends that overlaps this range; 0 if there is none.
    [[nodiscard]] std::uint64_t end_of_overlap(std::uint64_t address, std::uint64_t bytes) const;
    /// Makes the bytes behind a range and counts them.
    void back(Range& range);
    std::uint64_t add(Range range, std::uint64_t alignment);
    /// The physical place of fixed memory.
    std::uint64_t fixed_place(std::uint64_t address, std::uint64_t bytes);
    [[nodiscard]] const Found& find(std::uint64_t address) const;

    std::uint64_t capacity_;
    std::uint64_t used_ = 0;
    std::uint64_t next_virtual_ = std::uint64_t{1} << 32;
    std::uint64_t next_physical_ = std::uint64_t{1} << 28;
    std::map<std::uint64_t, Range> ranges_;
    /// Physical places of fixed memory, also of what was freed: address, then bytes and place.
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> places_;
    mutable Found last_;
};

}  // namespace gputomo::sim
