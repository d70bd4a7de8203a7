// Threads on many SMs that read constants which only the cache of all SMs holds, and the rate at which they get them.
#pragma once

#include "experiments/experiment.hpp"
#include "measure/chase/pointer_chase.hpp"
#include "measure/kernel/compiled_kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gputomo::experiments {

/// Loads of a thread in flight, each in a ring of lines of its own.
inline constexpr std::size_t kConstantChains = 4;
/// The rings take this share of the cache: more would miss in it, less would be served by the caches before it.
inline constexpr double kShareOfCache = 0.75;

/// The constant cache that all SMs share, as earlier experiments found it.
struct ConstantCache {
    std::string name;            ///< key in `caches`
    std::string first;           ///< name of the nearest cache, which tracks the loads of one SM
    std::uint64_t capacity = 0;  ///< bytes
    std::uint64_t before = 0;    ///< bytes of the cache before it
    std::uint64_t line = 0;      ///< bytes between two loads
    double bytes = 0;            ///< bytes that a load brings to the cache before
    double latency = 0;          ///< cycles
    std::uint32_t per = 1;       ///< SMs that share the cache before
};

/// Bytes per cycle of several SMs that do not end at the same time. Until the last end, the bandwidth of the others
/// lies idle; in the sum of each SM's own rate, the last ones use what the others left. The bandwidth of a saturated
/// cache lies between the two.
struct Throughput {
    double until_last = 0, each = 0;
};

class ConstantStream {
public:
    ConstantStream(device::Device& device, const ConstantCache& cache);
    /// Gives each SM of a group lines of its own, because an SM that follows another in one ring finds what that one
    /// fetched. Does nothing and returns false if the cache before would hold the lines of two of them.
    bool split_rings();
    /// SMs that share no cache before this one.
    [[nodiscard]] std::uint32_t groups() const { return (sms_ + cache_.per - 1) / cache_.per; }
    [[nodiscard]] std::uint32_t sms() const { return sms_; }
    [[nodiscard]] const CompiledKernel& kernel() const { return kernel_; }
    /// Bytes per cycle of `active` SMs together in the second half of the passes, which excludes how SMs begin and end.
    Throughput rate(std::uint32_t active);

private:
    /// Writes the lines of each chain as `parts` rings, one after the other.
    void write_rings(std::uint32_t parts);
    /// Cycles of each SM's block that reads; 0 for the others.
    std::vector<double> cycles(std::uint32_t active, std::uint32_t iterations);
    static std::shared_ptr<device::Module> load(device::Device& device);

    device::Device& device_;
    const ConstantCache& cache_;
    std::shared_ptr<device::Module> module_;
    CompiledKernel kernel_;
    ConstantLinks links_;
    std::uint32_t sms_;
    device::Buffer results_;
    std::vector<std::uint64_t> starts_;
    std::uint32_t lines_ = 0;
};

}  // namespace gputomo::experiments
