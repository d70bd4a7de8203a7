// Windows of virtual addresses for chases in which only translation varies.
#pragma once

#include "measure/chase/chase_array.hpp"

#include <cstdint>

namespace gputomo::measure {

/// A range of virtual addresses.
struct Window {
    device::Address base = 0;
    std::uint64_t bytes = 0;
    /// the smallest distance in bytes between two addresses that a chase visits
    std::uint64_t word = 0;
    bool aliased = false;  ///< every word maps to the same physical memory
};

/// The memory of a window. Where the device can, one physical page is mapped at many virtual addresses, so that data
/// stay in a cache and only translation varies. Otherwise it is a plain array.
class MappedWindow {
public:
    /// Bytes that certainly lie in one page of a plain array.
    static constexpr std::uint64_t kSmallPage = 4096;

    /// One page every `word` bytes, `count` times. Throws DeviceError if the device cannot map memory like this.
    static MappedWindow aliased(device::Device& device, std::uint64_t word, std::uint64_t count);
    static MappedWindow plain(device::Device& device, std::uint64_t bytes, std::uint64_t word,
                              std::uint64_t alignment = kPlainAlignment);
    MappedWindow(MappedWindow&& other) noexcept;
    MappedWindow(const MappedWindow&) = delete;
    MappedWindow& operator=(const MappedWindow&) = delete;
    MappedWindow& operator=(MappedWindow&&) = delete;
    ~MappedWindow();
    [[nodiscard]] const Window& window() const { return window_; }
    /// The window as an array for chases. With LoadHint::texture the result has a texture over the window.
    [[nodiscard]] ArrayPlace place(LoadHint hint) const;

private:
    /// Plain arrays start at a multiple of this, so that a TLB entry of up to 32 MiB starts there.
    static constexpr std::uint64_t kPlainAlignment = std::uint64_t{32} << 20;
    MappedWindow(device::Device& device, device::Address begin, Window window)
        : device_(&device), begin_(begin), window_(window) {}
    device::Device* device_;
    device::Address begin_;  ///< of the allocation
    Window window_;
};

}  // namespace gputomo::measure
