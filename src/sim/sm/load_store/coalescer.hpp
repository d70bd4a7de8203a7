// Coalescing: merges the addresses of a warp into memory transactions.
#pragma once

#include "costs/partial_stores.hpp"
#include "machine/machine.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::sim {

/// The bytes of one transaction.
struct Segment {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::uint32_t pieces = 0;   ///< of kPieceBytes that the threads touch
    bool partial = false;       ///< the threads touch only a part of these
    std::uint32_t asked = 0;    ///< bytes that the threads touch, counted for each thread
    std::uint64_t mask = 1;     ///< the touched pieces, from `address` on
    /// Touched bytes of the 128 that `address` lies in.
    costs::LineBytes touched = costs::LineBytes::all();

    static constexpr int kPieceShift = 5;
    static constexpr std::uint32_t kPieceBytes = 1U << kPieceShift;  ///< what DRAM and caches keep track of
};

class Coalescer {
public:
    /// The cache at which an access begins. Loads begin at the path's first cache. Stores, atomics and loads that skip
    /// the SM's own caches begin at the first cache of the whole GPU.
    enum class From : std::uint8_t { nearest, far };

    /// `path` names the machine's path. Neighbouring sectors of one line of the cache at which accesses begin are one
    /// transaction. Without such a cache, memory.transaction_sizes decide.
    Coalescer(const machine::Machine& machine, const std::string& path, From from = From::nearest);
    /// Constant caches serve one word at a time: each address is a transaction of its own.
    [[nodiscard]] static Coalescer word_by_word();

    /// The transactions of the lanes in `mask`, one group of threads after the other, in order of their first lanes.
    /// The result is valid until the next call.
    const std::vector<Segment>& merge(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask,
                                      std::uint32_t bytes);

private:
    /// A piece of memory of the size of a line, or of the largest transaction.
    struct Line {
        std::uint64_t base = 0;
        std::uint64_t low = 0;      ///< first byte touched
        std::uint64_t high = 0;     ///< first byte behind the last one touched
        std::uint32_t sectors = 0;  ///< touched
        std::uint64_t pieces = 0;   ///< touched, of Segment::kPieceBytes; of large lines the first 64
        std::uint64_t bytes = 0;    ///< touched, counted for each thread
        costs::LineBytes touched;   ///< of 128 bytes; of larger lines all of these together
    };
    Coalescer() = default;
    void use_cache(const machine::Cache& cache);
    void use_transaction_sizes(const std::vector<std::int64_t>& sizes);
    void merge_group(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask, std::uint32_t bytes);
    void merge_words(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask, std::uint32_t bytes);
    void touch(std::uint64_t begin, std::uint64_t end);
    void add_runs(const Line& line);
    void add_smallest(const Line& line);

    static constexpr std::uint32_t kMostThreads = 32;
    std::uint32_t group_ = kMostThreads;
    std::uint32_t line_shift_ = 7;
    std::uint32_t sector_shift_ = 7;
    bool words_ = false;
    std::vector<std::uint32_t> sizes_;  ///< of transactions, ascending; the smallest that fits (Volkov 2016, 2.5)
    std::vector<Line> lines_;
    std::vector<Segment> segments_;
};

}  // namespace gputomo::sim
