// One block whose threads each have several accesses in flight (Lashgar 2015, Listing 1).
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::measure {

enum class InFlightAccess : std::uint8_t {
    load,      ///< ld.global.ca
    load_far,  ///< ld.global.cg: bypasses the L1
    atomic,    ///< atom.global.add, each thread on a word of its own
    store,     ///< st.global, and a fence that waits for it
};
[[nodiscard]] std::string_view name_of(InFlightAccess access);

/// Bytes between successive accesses of a thread. No GPU so far has longer lines.
inline constexpr std::uint32_t kInFlightLine = 128;
/// Offset of threads that access nothing. All threads of a warp must agree.
inline constexpr std::uint32_t kIdleThread = 0xFFFFFFFF;

/// The accesses of each thread.
struct InFlightShape {
    InFlightAccess access = InFlightAccess::load;
    int count = 1;                       ///< accesses of a thread; 0 measures the overhead alone
    std::uint32_t step = kInFlightLine;  ///< bytes between successive accesses of a thread
};

/// Times of one block, in cycles since its first warp's start.
struct InFlightTime {
    double barrier = 0;         ///< time until all threads left the barrier, as in the listing
    std::vector<double> warps;  ///< time until each warp had its data; 0 for an idle warp
};

/// A kernel with one shape of accesses, launched with any number of threads.
class InFlight {
public:
    /// Throws CodeMismatch if the driver's compiler separated the accesses.
    InFlight(device::Device& device, InFlightShape shape);

    /// `offsets` (device memory, one u32 for each thread) are added to `base`. Pass 0 accesses `warm` with all
    /// threads, so that code and translations are cached; only pass 1 is reported. The block reserves `shared` memory
    /// that it does not use.
    InFlightTime run(int threads, device::Address base, device::Address warm, device::Address offsets,
                     Bytes shared = Bytes{0});
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }
    /// Most threads of a block that the registers allow.
    [[nodiscard]] int most_threads() const;

private:
    CompiledKernel kernel_;
    device::Buffer results_;
    /// Whether accesses are issued in the order in which they are written, as without a compiler, so that the last
    /// one's data arrive last. A compiler's order is unknown: then all results must be used, which takes issue slots
    /// from other warps.
    bool ordered_;
};

[[nodiscard]] ptx::KernelBuilder in_flight_kernel(ptx::Target target, InFlightShape shape);

}  // namespace gputomo::measure
