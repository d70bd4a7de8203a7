// Stores that write sectors in part: which of them leave an SM together, and which lines memory has to fill up.
#pragma once

#include "costs/scattered_accesses.hpp"
#include "machine/machine.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
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
    double request = 0;            ///< bytes of a stream of lines in whose time the head of a request passes
    ScatteredSpec scattered;
};
[[nodiscard]] PartialStores partial_stores_of(const machine::Machine& machine);

/// Sectors of one line that a store brings to the last cache.
struct StoredPart {
    double bytes = 0;
    bool partial = false;  ///< the store writes a part of these sectors
    bool joins = false;    ///< a store to the same line waits to leave the SM, and takes these sectors along
};

/// Bytes of whole lines in whose time the last cache takes a part of one. `cost` is accesses.*.partial_cost. Where
/// memory's part is described, it is that of a whole line, and what it adds is the same for each request.
[[nodiscard]] double stored_bytes(const PartialStores& spec, double cost, const StoredPart& part);

/// Stores of one SM that wait to leave it. A store to a line that waits goes with it.
class StoreQueue {
public:
    explicit StoreQueue(std::size_t lines) : waiting_(lines) {}

    /// The sectors of a store, as bits, that go with no store that still waits at `now`.
    [[nodiscard]] std::uint32_t left(std::uint64_t line, std::uint32_t sectors, double now);
    /// Whether a store to the line waits.
    [[nodiscard]] bool has(std::uint64_t line, double now) const;
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
    std::uint32_t whole = 0;    ///< other sectors of it that stores have written as a whole, as bits
    std::uint32_t stored = 0;   ///< sectors of the line, counted for each store that took them to the cache

    [[nodiscard]] std::uint64_t address() const { return line * kStoredLine; }
    [[nodiscard]] std::uint32_t bytes() const {
        return static_cast<std::uint32_t>(std::popcount(sectors) * kStoredSector);
    }
};

/// Lines of the last cache that stores have written in part. The one that was not written for longest is filled up.
class PartialLines {
public:
    /// `lines` of them are kept.
    explicit PartialLines(double lines) : lines_(lines) {}

    /// A store wrote these bytes of a line, which lie in `sectors`. A store of whole sectors matters to a line that
    /// another one has written in part.
    [[nodiscard]] FilledLine store(std::uint64_t line, std::uint32_t sectors, const LineBytes& bytes);
    /// A store that goes with one that waits to leave its SM wrote these bytes. The cache takes its sectors once.
    void join(std::uint64_t line, std::uint32_t sectors, const LineBytes& bytes);
    /// The last cache gives the line up. Returns what memory fills up.
    [[nodiscard]] FilledLine take(std::uint64_t line);
    /// Whether it was written in part.
    [[nodiscard]] bool knows(std::uint64_t line) const { return partial_.contains(line); }

private:
    struct Partial {
        std::uint32_t sectors = 0, stored = 0;
        LineBytes bytes;
        std::uint64_t place = 0;  ///< in `order_`
    };
    using Known = std::unordered_map<std::uint64_t, Partial>::iterator;
    /// Whether all sectors of the line that stores have reached are whole now. Nothing is kept of it then.
    bool add(Known known, std::uint32_t sectors, const LineBytes& bytes);
    /// Makes the line the one that was written last.
    void put_last(Known known);

    double lines_;
    std::unordered_map<std::uint64_t, Partial> partial_;  ///< by line
    std::map<std::uint64_t, std::uint64_t> order_;        ///< lines, the one written last at the end
    std::uint64_t next_place_ = 0;
};

}  // namespace gputomo::costs
