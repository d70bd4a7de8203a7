// One block whose threads each have several accesses under way at once (Lashgar 2015, Listing 1).
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::measure {

enum class InFlightAccess : std::uint8_t {
    load,      ///< ld.global.ca
    load_far,  ///< ld.global.cg: past the caches of the SM
    atomic,    ///< atom.global.add, each thread at a word of its own
    store,     ///< st.global, and a fence that waits for it
};
[[nodiscard]] std::string_view name_of(InFlightAccess access);

/// Bytes from one access of a thread to its next: no GPU so far has longer lines.
inline constexpr std::uint32_t kInFlightLine = 128;
/// An offset of threads that access nothing. All threads of a warp must agree.
inline constexpr std::uint32_t kIdleThread = 0xFFFFFFFF;

struct InFlightShape {
    InFlightAccess access = InFlightAccess::load;
    int count = 1;                       ///< accesses of a thread; 0 for what measuring alone takes
    std::uint32_t step = kInFlightLine;  ///< bytes from one of them to the next
};

/// What one block measured, in cycles from its first warp's start.
struct InFlightTime {
    double barrier = 0;         ///< to after the barrier that all come to, as in the listing
    std::vector<double> warps;  ///< to when each warp had its data; 0 for an idle one
};

class InFlight {
public:
    /// Throws CodeMismatch where the driver's compiler did not leave the accesses next to each other.
    InFlight(device::Device& device, InFlightShape shape);

    /// `offsets` (device memory: one u32 for each thread) are added to `base`. Pass 0 goes to `warm` with all threads,
    /// so that code and translation are there; only pass 1 is reported. The block takes `shared` memory that it does
    /// not use.
    InFlightTime run(int threads, device::Address base, device::Address warm, device::Address offsets,
                     Bytes shared = Bytes{0});
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }
    /// The most threads that the registers leave room for.
    [[nodiscard]] int most_threads() const;

private:
    CompiledKernel kernel_;
    device::Buffer results_;
    /// Without a compiler, accesses go in the order in which they are written, and the last one's data come last. What
    /// a compiler puts last is not known, and all must be used, which takes the issue slots of other warps.
    bool ordered_;
};

[[nodiscard]] ptx::KernelBuilder in_flight_kernel(ptx::Target target, InFlightShape shape);

}  // namespace gputomo::measure
