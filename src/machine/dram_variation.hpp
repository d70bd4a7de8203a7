// How latencies of single reads from DRAM differ from their mean. Hashes of the address decide, so that a simulation
// and a prediction are the same in every run.
#pragma once

#include "machine/caches.hpp"
#include "machine/memory.hpp"
#include "units/error.hpp"
#include "units/scattered.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gputomo::machine {

/// Lines of one aligned block of this size are equally far away. A larger block would let more of the lines that a warp
/// reads together have the same latency; 256 bytes are what GPUs keep together in a channel.
inline constexpr std::uint64_t kVariationBytes = 256;
/// Bytes that belong to one partition of the last cache together. An H200's lines change sides at multiples of 4 KiB.
inline constexpr std::uint64_t kPartitionBytes = 4096;

/// What lines behind another partition of the last cache cost; all 0 where that is not described.
struct FarMemory {
    std::uint64_t sides = 1;  ///< partitions
    double extra = 0;         ///< cycles by which a read takes longer than behind the SM's own partition
    double request = 0;       ///< of these, those until DRAM is asked

    /// Cycles by which the data come later to an SM of another partition than to one of the line's own, wherever the
    /// request came from.
    [[nodiscard]] double response() const { return extra - request; }
    /// Cycles beyond the mean latency for an SM whose own partition the line belongs to, or does not.
    [[nodiscard]] double beyond_mean(bool far) const {
        const double share = 1 - 1 / static_cast<double>(sides);
        return extra * (far ? 1 - share : -share);
    }
};

[[nodiscard]] inline FarMemory far_memory(const Path& path, const Cache& last) {
    const std::int64_t partitions = last.partitions.value_or(1);
    if (partitions < 2 || !path.memory_far_extra) return {};
    const auto extra = static_cast<double>(*path.memory_far_extra);
    return {.sides = static_cast<std::uint64_t>(partitions),
            .extra = extra,
            .request = std::min(extra, static_cast<double>(path.memory_far_request.value_or(0)))};
}

/// Refreshes of the memory. Parts of it are refreshed at different times, and each as often.
struct Refresh {
    double interval = 0;  ///< cycles from one refresh of a part to the next; 0: not described
    double time = 0;      ///< cycles that one takes
    /// The lines of an aligned block of `bytes` belong to `parts` parts. Each block is larger than the one before.
    struct Group {
        std::uint64_t bytes, parts;
    };
    std::vector<Group> groups;

    /// Cycles by which these waits raise the median of reads whose latencies otherwise lie evenly within `spread`
    /// cycles.
    [[nodiscard]] double median_wait(double spread) const {
        if (interval <= 0) return 0;
        const double half = spread / 2, waiting = std::min(1.0, time / interval);
        // The share of reads without waits that lies below x, and its integral. x is 0 in the middle of the spread.
        const auto below = [&](double x) {
            return spread > 0 ? std::clamp((x + half) / spread, 0.0, 1.0) : (x >= 0 ? 1.0 : 0.0);
        };
        const auto integral = [&](double x) {
            return x <= -half ? 0 : x >= half ? x : (x + half) * (x + half) / (2 * spread);
        };
        double low = -half, high = half + time;
        for (int i = 0; i < 50; ++i) {
            const double middle = (low + high) / 2;
            const double share =
                (1 - waiting) * below(middle) + waiting * (integral(middle) - integral(middle - time)) / time;
            (share < 0.5 ? low : high) = middle;
        }
        return high;
    }
    /// Cycles that a read waits in the mean.
    [[nodiscard]] double mean_wait() const { return interval > 0 ? time * time / (2 * interval) : 0; }
    /// The square of the cycles by which these waits differ from their mean.
    [[nodiscard]] double variance() const {
        return interval > 0 ? time * time * time / (3 * interval) - mean_wait() * mean_wait() : 0;
    }
    /// Cycles that a read of this address waits which the memory would serve at `now`.
    [[nodiscard]] double wait(std::uint64_t address, double now) const {
        if (interval == 0) return 0;
        const double since = std::fmod(now + interval * static_cast<double>(part(address)) / kParts, interval);
        return std::max(0.0, time - since);
    }

    /// Parts with a time of their own. With more of them, single waits only lie closer together.
    static constexpr std::uint64_t kParts = 64;
    /// The part that an address belongs to. A GPU's own choice is not known. Hashes choose, and lines near each other
    /// share parts at least as often as `groups` say. Pieces of the smallest group take turns.
    [[nodiscard]] std::uint64_t part(std::uint64_t address) const {
        std::uint64_t chosen = address / kVariationBytes;
        if (groups.empty()) return scattered(chosen + kParts) % kParts;
        for (const Group& group : groups) chosen = scattered(address / group.bytes * kParts + chosen % group.parts + 1);
        return chosen % kParts;
    }
};

/// `mhz` is the clock of cycles. Without both leaves there are no refreshes. Throws InputError unless refresh_parts is
/// a list of growing blocks with their parts.
[[nodiscard]] inline Refresh refresh_of(const Memory& memory, double mhz) {
    if (!memory.refresh_interval || !memory.refresh_time) return {};
    Refresh refresh{.interval = *memory.refresh_interval * mhz / 1000, .time = *memory.refresh_time * mhz / 1000};
    const std::vector<std::int64_t> parts = memory.refresh_parts.value_or({});
    for (std::size_t i = 0; i < parts.size(); i += 2) {
        constexpr auto kPiece = static_cast<std::int64_t>(kVariationBytes);
        const std::int64_t least = i == 0 ? kPiece : parts[i - 2] + 1;
        if (i + 1 == parts.size() || parts[i] < least || parts[i] % kPiece != 0 || parts[i + 1] < 1 ||
            parts[i + 1] > static_cast<std::int64_t>(Refresh::kParts))
            throw InputError(fmt::format(
                "memory.refresh_parts: found [{}]; expected bytes of a block, a multiple of {}, and 1 to {} "
                "parts of it, then those of a larger block, and so on",
                fmt::join(parts, ", "), kPiece, Refresh::kParts));
        refresh.groups.push_back(
            {.bytes = static_cast<std::uint64_t>(parts[i]), .parts = static_cast<std::uint64_t>(parts[i + 1])});
    }
    return refresh;
}

/// Cycles that a read of this address, which the memory would serve at `now`, waits for writes that take `share` of the
/// memory's time. Each half of the memory does its writes together, for `time` cycles, and a read that comes meanwhile
/// waits for the rest of them. Neighbouring pieces belong to different halves. Reads of the same moment wait alike.
/// When a half writes is not known, so waits are spread evenly over moments
/// (measured: docs/notes/2026-11-27-blocks-that-make-room.md).
[[nodiscard]] inline double write_wait(std::uint64_t address, double now, double share, double time) {
    if (!(share > 0)) return 0;
    // A warp issues its loads within one moment. A longer one would let all warps of an SM wait and go on together.
    constexpr double kMoment = 128;
    // Multiples of these, less their whole parts, lie evenly in a square: powers of the root of x^3 = x + 1.
    constexpr double kFirst = 0.7548776662466927, kSecond = 0.5698402909980532;
    const std::uint64_t piece = address / kVariationBytes;
    const bool second = ((piece ^ scattered(piece / 2)) & 1) != 0;
    const double place = std::floor(now / kMoment) * (second ? kSecond : kFirst) + 0.5;
    const double part = place - std::floor(place);
    return part < share ? time * part / share : 0;
}

/// The partition that an address belongs to. Higher bits are folded in, so that rows of powers of two do not all belong
/// to one.
[[nodiscard]] constexpr std::uint64_t partition_of(std::uint64_t address, std::uint64_t partitions) {
    const std::uint64_t piece = address / kPartitionBytes;
    return (piece ^ (piece >> 5) ^ (piece >> 11)) % partitions;
}

/// The square of the described range of latencies, less what refreshes add to it; 0 where memory_latency_line_range is
/// not described as a pair. The square of a range is twelve times the variance of latencies that are equally likely,
/// and variances add up.
[[nodiscard]] inline double squared_range_of(const Path& path, const Refresh& refresh) {
    if (!path.memory_latency_line_range || path.memory_latency_line_range.value.size() != 2) return 0;
    const auto all =
        static_cast<double>(path.memory_latency_line_range.value[1] - path.memory_latency_line_range.value[0]);
    return std::max(0.0, all * all - 12 * refresh.variance());
}

/// Cycles between the latencies of the nearest and the farthest line of one partition. The described range includes
/// what another partition adds, and waits for refreshes.
[[nodiscard]] inline double line_range(const Path& path, const Refresh& refresh = {}) {
    if (path.memory_latency_partition_range) return static_cast<double>(*path.memory_latency_partition_range);
    const auto extra = static_cast<double>(path.memory_far_extra.value_or(0));
    // Half of the lines are extra / 2 beyond the mean.
    return std::sqrt(std::max(0.0, squared_range_of(path, refresh) - 3 * extra * extra));
}

/// Cycles by which the described latency, the median of single reads, is longer than the mean of reads that wait for no
/// refresh.
[[nodiscard]] inline double refresh_wait_of(const Path& path, const Refresh& refresh) {
    if (path.memory_latency && path.memory_latency_unrefreshed)
        return static_cast<double>(*path.memory_latency - *path.memory_latency_unrefreshed);
    return refresh.median_wait(std::sqrt(squared_range_of(path, refresh)));
}

/// Where a line lies between the nearest (-0.5) and the farthest one (0.5) of its partition, in a memory whose channels
/// are not described. Its latency is the mean plus this share of line_range().
[[nodiscard]] constexpr double line_distance(std::uint64_t address) {
    // Steps in which latencies differ. With more of them, single latencies only lie closer together.
    constexpr std::uint64_t kPlaces = 16;
    return static_cast<double>(scattered(address / kVariationBytes) % kPlaces) / static_cast<double>(kPlaces - 1) - 0.5;
}

}  // namespace gputomo::machine
