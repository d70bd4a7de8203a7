// Streaming kernels: every thread of a full GPU reads or copies 16 bytes at a time, with several accesses in flight.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <string>
#include <vector>

namespace gputomo::measure {

enum class StreamKind : std::uint8_t { read, copy };

/// The launch shape of a streaming kernel.
struct StreamShape {
    int threads = 256;  ///< of a block
    int blocks = 1;
    int unroll = 4;  ///< independent 16-byte accesses of a thread in flight

    /// Bytes of an array that one iteration of the grid's loop reads. No run reads less.
    [[nodiscard]] std::int64_t iteration_bytes() const;
};

/// Launch shapes worth trying on this device; all fill every SM.
[[nodiscard]] std::vector<StreamShape> streaming_shapes(const device::Device& device);

/// A streaming kernel over arrays that belong to the caller.
class Streaming {
public:
    /// `arrays`: start of the array that is read. A copy is written `size` bytes after it.
    Streaming(device::Device& device, StreamKind kind, StreamShape shape, device::Address arrays, Bytes size);

    /// Whether the device has the registers for a block of this shape.
    [[nodiscard]] bool fits() const;
    /// One pass over `size` bytes, rounded down to whole iterations of the grid (at least one).
    Nanoseconds run(Bytes size);
    /// Time and work of a pass over `size` less those of a pass over half of it, which cancels the cost of a launch.
    /// Each is the best of `launches` launches. Launches of one size follow each other, because data that one launch
    /// has left to write delay the next one.
    struct SecondHalf {
        Nanoseconds time{0};
        Bytes moved{0};
        std::uint32_t iterations = 0;  ///< of the grid's loop
    };
    [[nodiscard]] SecondHalf second_half(Bytes size, int launches);
    /// Bytes read and written by run(size).
    [[nodiscard]] Bytes moved(Bytes size) const;
    [[nodiscard]] std::string name() const;
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }
    [[nodiscard]] std::int64_t iteration_bytes() const { return shape_.iteration_bytes(); }

private:
    [[nodiscard]] std::uint32_t iterations(Bytes size) const;

    StreamKind kind_;
    StreamShape shape_;
    device::Address arrays_;
    Bytes size_;
    std::int64_t registers_ = 0;  ///< registers that a block may use; 0: unknown
    CompiledKernel kernel_;
};

/// Stores the sum of what a kernel loaded if it has a rare value, so that the compiler drops no load.
void store_if_rare(ptx::KernelBuilder& k, ptx::Reg sum, ptx::Reg address);

[[nodiscard]] ptx::KernelBuilder streaming_kernel(ptx::Target target, StreamKind kind, int unroll);

}  // namespace gputomo::measure
