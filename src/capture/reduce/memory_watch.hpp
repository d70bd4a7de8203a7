// Which memory a launch reads and writes, and a digest of all that it executes, by block.
#pragma once

#include "capture/capture.hpp"
#include "launch/prepared_launch.hpp"
#include "sim/machine_code/run.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gputomo::capture {

/// Bytes whose content is kept or left out together: a line of the caches.
inline constexpr std::uint64_t kUnit = 128;
/// Bytes that are restored together before another run.
inline constexpr std::uint64_t kPage = 4096;

/// What a unit holds before a run: its own content, generated numbers or other ones, a part of the buffer that repeats,
/// or zeros.
enum class Held : std::uint8_t { own, generated, other, short_tile, long_tile, wide_tile, zero };

/// Bytes that repeat; 0 where none do.
[[nodiscard]] constexpr std::uint64_t period_of(Held held) {
    switch (held) {
        case Held::short_tile: return std::uint64_t{4} << 10;
        case Held::long_tile: return std::uint64_t{64} << 10;
        case Held::wide_tile: return std::uint64_t{512} << 10;
        default: return 0;
    }
}

/// A buffer whose content may be left out.
struct Region {
    const Buffer* buffer = nullptr;
    std::uint64_t address = 0, bytes = 0;
    std::byte* at = nullptr;           ///< on the host
    std::vector<std::byte> original;   ///< content before the launch
    std::vector<Held> held;            ///< by unit
    std::vector<bool> from_file;       ///< by unit: whether its content takes space in a capture
    std::vector<std::uint64_t> loads;  ///< by unit: the instructions that read it, as bits of their number modulo 64
    std::vector<bool> dirty;           ///< by page: not as `original` and `held` say
    std::vector<bool> touched;         ///< by unit: whether the last run that counted read or wrote it
    std::uint64_t tile_at = 0;         ///< where the part begins that tiles repeat

    /// Where the byte of the original content lies that a tile puts at `offset`.
    [[nodiscard]] std::uint64_t tile_source(std::uint64_t offset, std::uint64_t period) const {
        return tile_at + (offset + period - tile_at % period) % period;
    }
    /// Whether the buffer has a whole tile.
    [[nodiscard]] bool has_tile(std::uint64_t period) const { return bytes - tile_at >= period; }
};

/// How much a run executed and touched.
struct Totals {
    std::uint64_t warp_instructions = 0, thread_instructions = 0;
    std::uint64_t sectors = 0;  ///< of 32 bytes in global memory, each once an instruction
    std::uint64_t units = 0;    ///< different ones
};

/// Watches a run. It finds where the run executes something else than an earlier one did.
class Watch final : public sim::machine_code::Observer {
public:
    using Clock = std::chrono::steady_clock;

    /// What it keeps: only the digests; or also how much was executed and touched; or also which loads read what.
    enum class Keeps : std::uint8_t { digests, totals, loads };

    Watch(std::vector<Region>& regions, Keeps keeps, Clock::time_point deadline);
    /// The digests of an earlier run: this one ends at the first block that differs.
    void expect(std::span<const std::uint64_t> digests) { expected_ = digests; }

    void execute(std::size_t step, std::uint32_t lanes, std::uint32_t mask) override;
    void access(sim::machine_code::Space space, sim::machine_code::Access access, std::uint64_t offset,
                std::uint64_t bytes) override;
    bool end_block(std::uint64_t index) override;

    /// By block, in the order in which they ran.
    [[nodiscard]] const std::vector<std::uint64_t>& digests() const { return digests_; }
    [[nodiscard]] std::optional<std::uint64_t> different_block() const { return different_; }
    [[nodiscard]] Totals totals() const;

private:
    /// Counts the sectors of the last instruction.
    void count_sectors();
    void mix(std::uint64_t value) {
        constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
        digest_ = (digest_ ^ value) * kOdd;
        digest_ ^= digest_ >> 29;
    }
    Region* region_at(std::uint64_t address);

    std::vector<Region>& regions_;
    Keeps keeps_;
    Clock::time_point deadline_;
    std::span<const std::uint64_t> expected_;
    Region* last_ = nullptr;
    std::uint64_t digest_ = 0;
    Totals totals_;
    std::vector<std::uint64_t> sectors_;  ///< of the last instruction
    std::size_t step_ = 0;
    std::vector<std::uint64_t> digests_;
    std::optional<std::uint64_t> different_;
};

/// The device and host buffers of a launch with content of their own.
[[nodiscard]] std::vector<Region> regions_of(const launch::PreparedLaunch& launch, const std::vector<Buffer>& buffers);

/// Writes what `original` and `held` say to all dirty pages.
void restore(std::vector<Region>& regions);

}  // namespace gputomo::capture
