// DRAM: channels that move data at a fixed rate and lose time when the bus turns around between reads and writes.
#pragma once

#include "costs/scattered_accesses.hpp"
#include "machine/dram_variation.hpp"
#include "machine/machine.hpp"
#include "sim/memory/banks.hpp"
#include "sim/memory/contention.hpp"
#include "sim/memory/pauses.hpp"
#include "sim/memory/server.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gputomo::sim {

/// Throws InputError where a refresh takes longer than the time between two.
[[nodiscard]] machine::Refresh refresh_of(const machine::Machine& machine);

/// Reads wait for a bank, where banks are described, and then for their channel. A read waits only for the bursts of a
/// fetched line that it needs. Each channel moves a byte in the time that the described sustained reads need; activates
/// and refresh are included in that rate.
///
/// Writes wait in the channel's queue. They leave in batches of kWriteBatch bytes, or without cost while the channel is
/// idle. For every batch of writes beside equally many bytes of reads the bus turns around twice, however the program
/// mixes them, because the controller chooses the order. The turnaround time follows from the description: equal shares
/// of reads and writes reach memory.copy_bandwidth together. Reads alone and writes alone do not turn the bus.
///
/// Without described banks a read waits as long as the memory's load makes it wait (Contention), or for its channel,
/// whichever is longer.
///
/// Parts of lines that lie far from others take as long as memory.scattered_read_bytes and
/// memory.scattered_write_bytes of a stream, where banks are not described. A part that an SM reads is near those that
/// the same SM has read before.
///
/// A read that the memory would serve while its line is refreshed (memory.refresh_interval, memory.refresh_time) waits
/// for the end. Described rates and latencies include that, so that other reads do not wait for it.
///
/// While the memory pauses (memory.pause_interval, memory.pause_time), banks and channels stand still. What arrives in
/// a pause is served after it. Described rates are means over pauses too, so that the memory is faster between them.
class Dram {
public:
    /// Sustained rate: memory.read_bandwidth, else channels x channel_bytes_per_cycle, else peak_bandwidth. Throws
    /// InputError.
    explicit Dram(const machine::Machine& machine);

    struct Wait {
        double delay = 0;    ///< cycles that the read waits for its channel; 0 when that is free
        double service = 0;  ///< cycles that it takes there
        /// The channel's; nullptr where banks are described, because the parts of a read then lie in several channels.
        const Server* server = nullptr;
    };
    /// A read that arrives at `now`. An SM asks for it, or the last cache does so for itself.
    Wait read(std::uint64_t physical, std::uint32_t bytes, double now, std::optional<std::uint32_t> sm = {});
    /// How long after `now` the channel's queue takes the write.
    double write(std::uint64_t physical, std::uint32_t bytes, double now);
    /// How far away the line lies, by its channel: -0.5 is the nearest, 0.5 the farthest.
    [[nodiscard]] double distance(std::uint64_t physical) const;
    /// When all channels have completed the booked work.
    [[nodiscard]] double busy_until() const;
    /// Forgets queued writes, and which bytes were read.
    void begin_launch();

    /// Consecutive blocks of this size lie on different channels.
    static constexpr std::uint64_t kInterleave = 256;
    /// Bytes that a channel collects before it writes them: 16 bursts of 64 bytes. A larger batch makes single writes
    /// wait longer; throughput does not depend on it, because the turnaround time is derived from it.
    static constexpr double kWriteBatch = 1024;

private:
    /// A range of bursts of a line, both ends included.
    struct Bursts {
        std::size_t first, last;
    };
    /// Reads a whole line; returns when the wanted bursts have their channel. Times here and in serve_read() are
    /// working time (Pauses).
    double fetch(std::uint64_t line, Bursts wanted, double now);
    Wait serve_read(std::uint64_t physical, std::uint32_t bytes, double now, std::optional<std::uint32_t> sm);
    [[nodiscard]] double streamed(std::uint64_t physical, std::uint32_t bytes, std::optional<std::uint32_t> sm);

    struct Channel {
        Server server;
        double queued = 0;       ///< bytes of a stream in whose time it writes what waits
        double batch_start = 0;  ///< when the last batch began, in real time
        double read = 0;         ///< bytes read that no batch has yet turned the bus for
    };
    [[nodiscard]] std::size_t channel_of(std::uint64_t physical) const;
    void use_idle_time(Channel& channel, double now) const;

    std::vector<Channel> channels_;
    Banks banks_;
    Pauses pauses_;
    machine::Refresh refresh_;
    Contention contention_;  ///< of a memory without described banks
    costs::ScatteredSpec scattered_;
    std::vector<costs::ScatteredAccesses> reads_of_sm_;  ///< by SM, as far as they have read
    costs::ScatteredAccesses reads_, writes_;            ///< of the last cache
    double cycles_per_read_byte_ = 0;
    double cycles_per_written_byte_ = 0;
    double turnaround_ = 0;  ///< cycles per change of direction
};

}  // namespace gputomo::sim
