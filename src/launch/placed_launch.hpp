// A launch in the memory of a GPU, real or simulated, which runs it with timing.
#pragma once

#include "device/device.hpp"
#include "launch/launch.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace gputomo::launch {

class PlacedLaunch {
public:
    /// Places buffers and code on `gpu`. The launch's `fill` functions are kept for restore(). Throws InputError where
    /// the code cannot be loaded or has no such kernel, and where memory or parameters do not fit it. Throws
    /// DeviceError where the GPU has too little memory.
    PlacedLaunch(device::Device& gpu, const Launch& launch);
    PlacedLaunch(const PlacedLaunch&) = delete;
    PlacedLaunch& operator=(const PlacedLaunch&) = delete;
    /// Gives memory and code back.
    ~PlacedLaunch();

    /// Throws DeviceError or TimeLimitError as device::Kernel::launch() does.
    device::LaunchResult run(std::chrono::milliseconds time_limit);

    /// Gives all buffers the content that they have before the launch.
    void restore();
    /// Writes to buffer number `index` of the launch.
    void write(std::size_t index, std::uint64_t offset, std::span<const std::byte> bytes);

    /// For device::Device::run().
    [[nodiscard]] device::QueuedLaunch queued() const { return {.kernel = kernel_, .launch = &launch_}; }

    /// The content of buffer number `index` of the launch.
    [[nodiscard]] std::vector<std::byte> content(std::size_t index) const;

    /// Buffers that are not at their recorded addresses, and how many pointers to them were changed. A pointer is a
    /// word of eight bytes, in parameters or memory, that holds an address within such a buffer.
    struct Moved {
        std::size_t buffers = 0;
        std::uint64_t pointers = 0;
    };
    [[nodiscard]] const Moved& moved() const { return moved_; }
    /// The content of a buffer before the launch, as it is on this GPU.
    void read(const Buffer& buffer, std::span<std::byte> to) const;

    /// Whether the buffer is where the launch may change it. Constants are not.
    [[nodiscard]] bool is_there(std::size_t index) const { return place_of(index).has_value(); }

    /// Compares memory with what another GPU left there.
    [[nodiscard]] std::vector<Difference> compare(const std::vector<Buffer>& results,
                                                  const Tolerance& tolerance = {}) const;

private:
    /// Where a variable of the module lies on this GPU; nullopt for a constant, and one of another module.
    [[nodiscard]] std::optional<device::Address> variable_address(const Buffer& buffer) const;
    /// Where memory of a recorded buffer lies.
    [[nodiscard]] std::optional<device::Address> place_of_recorded(const Buffer& buffer) const;
    /// Where a buffer lies; nullopt for a constant, and one that this GPU does not have.
    [[nodiscard]] std::optional<device::Address> place_of(std::size_t index) const;
    /// Allocates a buffer that has an address of its own.
    void place(std::size_t index);
    void fill(const Buffer& buffer, device::Address to);
    void fill_constants(const Buffer& buffer);
    /// From now on, pointers into a buffer are changed to where it is.
    void note_move(const Buffer& buffer, device::Address to);
    /// Changes the pointers in the bytes, and returns how many.
    std::uint64_t move_pointers(std::span<std::byte> bytes) const;
    void place_all(const Launch& launch);
    void set_arguments(const Launch& recorded);
    void give_back() noexcept;

    device::Device& gpu_;
    std::vector<Buffer> buffers_;
    std::string code_;
    bool is_cubin_;
    std::vector<device::Address> addresses_;  ///< of the buffers
    std::vector<device::Address> allocated_;
    struct Move {
        std::uint64_t bytes = 0;
        device::Address to = 0;
    };
    std::map<device::Address, Move> moves_;  ///< by the recorded address
    Moved moved_;
    std::vector<std::size_t> sizes_;
    std::unique_ptr<device::Module> module_;
    device::Kernel* kernel_ = nullptr;
    device::Launch launch_;
};

}  // namespace gputomo::launch
