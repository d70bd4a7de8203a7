// Pointer chases through shared memory by any number of threads, timed as n against 2n.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/doubled_timing.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::measure {

/// Initial contents of shared memory: the word at byte offset `from` holds the offset `to`.
struct SharedLink {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
};

/// Every thread follows its own chains of ld.shared. Each load reads `width` words; the first is the next address.
class SharedChase {
public:
    struct Shape {
        int width = 1;       ///< words of a load: 1, 2 or 4
        int chains = 1;      ///< independent chains of a thread, all over the same addresses
        int length = 64;     ///< n, loads of a chain
        Bytes memory{8192};  ///< 32 threads times 64 words, the widest stride of a warp
    };
    SharedChase(device::Device& device, Shape shape);

    /// Cycles of n loads of each chain by all threads together. `starts` holds each thread's first byte offset.
    [[nodiscard]] double cycles_of_n(std::span<const SharedLink> links, std::span<const std::uint32_t> starts);
    [[nodiscard]] Shape shape() const { return shape_; }
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    device::Device& device_;
    Shape shape_;
    CompiledKernel kernel_;
    Stamps stamps_;
    device::Buffer results_;
};

[[nodiscard]] ptx::KernelBuilder shared_chase_kernel(ptx::Target target, SharedChase::Shape shape);

}  // namespace gputomo::measure
