// The error of an instruction that a thread must not perform.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace gputomo::sim {

/// Says what is wrong with which lane. The engine catches it and adds kernel, block, thread, line and instruction.
class LaneFault : public std::runtime_error {
public:
    LaneFault(int lane, const std::string& what) : std::runtime_error(what), lane_(lane) {}
    [[nodiscard]] int lane() const { return lane_; }

private:
    int lane_;
};

/// An access of `bytes` bytes beyond the `size` bytes of shared memory that a block has. A launch without its dynamic
/// shared memory is the usual reason.
[[nodiscard]] inline LaneFault beyond_shared_memory(int lane, std::uint64_t address, std::uint64_t bytes,
                                                    std::uint64_t size) {
    return LaneFault(lane, fmt::format("illegal address 0x{:x} ({} bytes) of shared memory, of which the block has {} "
                                       "bytes (--shared says how much is dynamic)",
                                       address, bytes, size));
}

}  // namespace gputomo::sim
