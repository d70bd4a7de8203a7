// Parts of lines that DRAM reads and writes alone, far from others.
#pragma once

#include "machine/machine.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
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
    /// Parts of lines that the warps of an SM read between two loads of one of them. With 32,
    /// `hostile/line_for_each_lane` of suites/own.json, whose lanes each load four neighbouring lines, would come out
    /// 1.3 times too slow.
    static constexpr std::size_t kReadsOfSm = 1024;
    /// Parts of lines that the last cache reads or writes for itself together: those of the lanes of one warp.
    static constexpr std::size_t kOfCache = 32;

    /// `remembered` is the number of accesses that later ones can be near.
    ScatteredAccesses(const ScatteredSpec& spec, std::size_t remembered) : spec_(spec), recent_(remembered) {}

    /// Bytes of a stream in whose time memory reads these bytes of one line, or writes them.
    [[nodiscard]] double read(std::uint64_t address, double bytes) { return cost(address, bytes, spec_.read); }
    [[nodiscard]] double write(std::uint64_t address, double bytes) { return cost(address, bytes, spec_.write); }

private:
    double cost(std::uint64_t address, double bytes, double alone);

    ScatteredSpec spec_;
    std::vector<std::uint64_t> recent_;  ///< a ring of places
    std::size_t next_ = 0;
    std::uint64_t count_ = 0;                                  ///< accesses so far
    std::unordered_map<std::uint64_t, std::uint64_t> latest_;  ///< by place in the ring: its last access, from 1 on
};

}  // namespace gputomo::costs
