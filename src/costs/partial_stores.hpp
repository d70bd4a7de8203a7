// Stores that write sectors in part: which of them leave an SM together, and which lines memory has to fill up.
#pragma once

#include "machine/machine.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace gputomo::costs {

/// Lines and sectors of the last cache.
inline constexpr std::uint64_t kStoredLine = 128, kStoredSector = 32;

/// Bytes of a line, as bits.
class LineBytes {
public:
    [[nodiscard]] static LineBytes all() { return {0, kStoredLine}; }
    LineBytes() = default;
    /// `count` bytes from `first` on, modulo the size of a line.
    LineBytes(std::uint64_t first, std::uint64_t count);

    [[nodiscard]] static LineBytes of_sectors(std::uint32_t sectors);

    void add(const LineBytes& other) {
        bits_[0] |= other.bits_[0];
        bits_[1] |= other.bits_[1];
    }
    [[nodiscard]] std::uint32_t count() const {
        return static_cast<std::uint32_t>(std::popcount(bits_[0]) + std::popcount(bits_[1]));
    }
    /// The sectors of which all bytes are there, as bits.
    [[nodiscard]] std::uint32_t whole_sectors() const;

private:
    std::array<std::uint64_t, 2> bits_{};
};

/// What the description says of them. Zeros where it does not say.
struct PartialStores {
    std::size_t merged_lines = 0;  ///< stores of an SM that wait to leave it, and that later ones can join
    double kept_lines = 0;         ///< lines written in part that the last cache keeps
    /// Bytes of a stream in whose time memory reads and writes a sector far from others.
    double scattered_read = 0, scattered_write = 0;
};
[[nodiscard]] PartialStores partial_stores_of(const machine::Machine& machine);

/// Bytes of whole sectors in whose time the last cache takes `bytes` of sectors of one line that are written in part.
/// `cost` is accesses.*.partial_cost. Where memory's part is described, it is that of a whole line, and what it adds is
/// the same for each request.
[[nodiscard]] inline double partial_bytes(const PartialStores& spec, double cost, double bytes) {
    return spec.kept_lines > 0 ? bytes + (cost - 1) * static_cast<double>(kStoredLine) : bytes * cost;
}

/// Stores of one SM that wait to leave it. A store to a line that waits goes with it.
class StoreQueue {
public:
    explicit StoreQueue(std::size_t lines) : waiting_(lines) {}

    /// The sectors of a store, as bits, that go with no store that still waits at `now`.
    [[nodiscard]] std::uint32_t left(std::uint64_t line, std::uint32_t sectors, double now);
    void add(std::uint64_t line, std::uint32_t sectors, double leaves);

private:
    struct Waiting {
        std::uint64_t line = 0;
        std::uint32_t sectors = 0;
        double leaves = -1;
    };
    std::vector<Waiting> waiting_;  ///< a ring
    std::size_t next_ = 0;
    double last_ = -1;  ///< when the newest one leaves
};

/// A part of a line that memory reads, so that the cache can write it back as a whole.
struct FilledLine {
    std::uint64_t line = 0;
    std::uint32_t sectors = 0;  ///< as bits; 0: none
    /// Bytes of a stream in whose time memory reads and writes it.
    double read = 0, written = 0;
};

/// Lines of the last cache that stores have written in part. The one that was not written for longest is filled up.
class PartialLines {
public:
    /// `lines` of them are kept.
    PartialLines(const PartialStores& spec, double lines) : spec_(spec), lines_(lines), recent_(kRecent) {}

    /// A store wrote these bytes of a line, which lie in `sectors`. A store of whole sectors matters to a line that
    /// another one has written in part.
    [[nodiscard]] FilledLine store(std::uint64_t line, std::uint32_t sectors, const LineBytes& bytes);
    /// Whether it was written in part.
    [[nodiscard]] bool knows(std::uint64_t line) const { return partial_.contains(line); }

private:
    /// Bytes of the row of a channel of HBM. Memory reads and writes neighbouring lines of it in the time of a stream.
    static constexpr std::uint64_t kRow = 1024;
    /// Rows that it remembers. With fewer of them, streams of many SMs would look scattered.
    static constexpr std::size_t kRecent = 8192;

    struct Partial {
        std::uint32_t sectors = 0;
        LineBytes bytes;
        std::list<std::uint64_t>::iterator place;
    };
    PartialStores spec_;
    double lines_;
    std::unordered_map<std::uint64_t, Partial> partial_;  ///< by line
    std::list<std::uint64_t> order_;                      ///< the one written last at the end
    std::vector<std::uint64_t> recent_;                   ///< rows, by a part of their number
};

}  // namespace gputomo::costs
