// The settings and counters of the fake driver. They live in the fake library, where tests find them by symbol.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gputomo::device::cuda::fake {

inline constexpr const char* kStateSymbol = "gputomo_fake_state";

struct State {
    // The fake machine.
    int devices = 1;
    int driver_version = 13000;
    int compute_major = 9;
    int compute_minor = 0;
    // A requested failure: this call returns this result.
    const char* failing_call = nullptr;
    int failure = 0;
    bool kernels_end = true;
    // Resources that were opened and not closed.
    int contexts = 0;
    int streams = 0;
    int events = 0;
    int links = 0;
    int modules = 0;
    int allocations = 0;
    int textures = 0;
    int reservations = 0;
    int mappings = 0;
    int physical = 0;
    // Arguments of the last calls.
    int calls = 0;
    int compiled = 0;
    int dynamic_shared_allowed = 0;
    int carveout = -2;
    std::size_t launched_bytes = 0;
    // Memory at given addresses.
    std::uint64_t taken = 0;    ///< an address that cannot be reserved
    std::uint64_t instead = 0;  ///< what is reserved in its place; 0: anywhere
    int host_registered = 0;
    // Launches with attributes.
    int cooperative = 0;
    unsigned cluster[3] = {};
    int large_clusters = 0;
    int context_resets = 0;
    // The fake clock advances with each launch: by `empty_cycles` for a kernel "empty", by `kernel_cycles` for others
    // but the reader of the clock, "stamp". Two cycles are a nanosecond.
    std::uint64_t clock = 1'000'000;
    std::uint64_t empty_cycles = 1'000;
    std::uint64_t kernel_cycles = 11'000;
    int launches_of_kernels = 0;  ///< of those
    /// A kernel adds 1 to the word to which its first parameter points. With `work_done` it sets the word to 1, and
    /// takes no longer than an empty one where the word is set already.
    bool kernels_count = false;
    bool work_done = false;
    // Some kernels are known by name. The one named "endless" never ends, and "kills" ends the process. The kernel
    // "waits" sets the first word, and never ends where it is set already. The kernel "late" sets the first word. Where
    // that is set already, it sets the second one.
    int launches_of_late_words = 0;  ///< launches of "late" that found the second word set
    // NVML: processes on the GPU before and after a context is created.
    unsigned processes_before[4] = {};
    int count_before = 0;
    unsigned processes_after[4] = {};
    int count_after = 0;
    unsigned long long throttle_reasons = 0;
    bool ecc_enabled = true;
#ifdef FAKE_SOUND
    int ecc_errors = 0;
#else
    int ecc_errors = 3;
#endif
    // Settings of the GPU in NVML's numbers, and bytes.
    int persistence = 1;
    unsigned mig = 0;
    int mig_result = 0;  ///< 3 where the GPU cannot be divided
    int compute_mode = 0;
    unsigned long long free_memory = 60ULL << 30;
};

}  // namespace gputomo::device::cuda::fake
