// Parts of lines that DRAM reads and writes alone, far from others.
#pragma once

#include "machine/machine.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::costs {

/// Bytes of a stream in whose time memory reads and writes a part of a line; 0: no more than its own bytes.
struct ScatteredSpec {
    double read = 0, write = 0;
};
[[nodiscard]] ScatteredSpec scattered_spec_of(const machine::Machine& machine);

/// The latest places of memory that were accessed. DRAM opens a row for each access that is far from others, which
/// takes longer than to move a part of a line. Whole lines pass as in a stream.
class ScatteredAccesses {
public:
    static constexpr std::uint64_t kLine = 128;
    /// Accesses within as many bytes count as neighbours. On an H200, reads of 64 bytes of each 128 took 1.2 times as
    /// long as a stream, of each 256 1.6 times, and of each 4096 1.9 times
    /// (docs/notes/2026-11-27-sectors-far-apart.md).
    static constexpr std::uint64_t kNear = 512;
    /// What memory moves at least.
    static constexpr double kBurst = 64;

    /// `remembered` is the number of accesses that later ones can be near. One warp makes 32 at once.
    explicit ScatteredAccesses(const ScatteredSpec& spec, std::size_t remembered = 32)
        : spec_(spec), recent_(remembered) {}

    /// Bytes of a stream in whose time memory reads these bytes of one line, or writes them.
    [[nodiscard]] double read(std::uint64_t address, double bytes) { return cost(address, bytes, spec_.read); }
    [[nodiscard]] double write(std::uint64_t address, double bytes) { return cost(address, bytes, spec_.write); }

private:
    double cost(std::uint64_t address, double bytes, double alone) {
        if (alone <= bytes || bytes >= static_cast<double>(kLine)) return bytes;
        const std::uint64_t place = address / kNear;
        const bool near = std::ranges::find(recent_, place + 1) != recent_.end();
        recent_[next_] = place + 1;
        next_ = (next_ + 1) % recent_.size();
        return near ? std::max(bytes, kBurst) : alone;
    }

    ScatteredSpec spec_;
    std::vector<std::uint64_t> recent_;  ///< a ring of places, each plus one
    std::size_t next_ = 0;
};

}  // namespace gputomo::costs
