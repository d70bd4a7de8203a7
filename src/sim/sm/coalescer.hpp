// The addresses of a warp -> memory transactions.
#pragma once

#include "machine/machine.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::sim {

struct Segment {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
};

class Coalescer {
public:
    /// From where on a path an access is served: loads begin at its first cache; stores, atomics and loads that pass by
    /// the SM's own caches at the first one of the whole GPU.
    enum class From : std::uint8_t { nearest, far };

    /// `path` names the machine's path. Neighbouring sectors of one line of the cache in question are one transaction;
    /// where there is no such cache memory.transaction_sizes rule.
    Coalescer(const machine::Machine& machine, const std::string& path, From from = From::nearest);
    /// Constant caches serve one word at a time: each address is a transaction of its own.
    [[nodiscard]] static Coalescer word_by_word();

    /// What the lanes in `mask` touch, in order of the first lane; a group of threads at a time.
    /// The result is valid until the next call.
    const std::vector<Segment>& merge(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask,
                                      std::uint32_t bytes);

private:
    /// Part of memory as large as a line, or as the largest transaction.
    struct Line {
        std::uint64_t base = 0;
        std::uint64_t low = 0;      ///< first byte touched
        std::uint64_t high = 0;     ///< behind the last
        std::uint32_t sectors = 0;  ///< touched
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
    std::vector<std::uint32_t> sizes_;  ///< that a transaction may shrink to, ascending (GT200; Volkov 2016, 2.5)
    std::vector<Line> lines_;
    std::vector<Segment> segments_;
};

}  // namespace gputomo::sim
