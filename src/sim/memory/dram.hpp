// DRAM: channels that move data at a fixed rate and lose time when the bus turns round between reads and writes.
#pragma once

#include "machine/machine.hpp"
#include "sim/memory/banks.hpp"
#include "sim/memory/pauses.hpp"
#include "sim/memory/server.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::sim {

/// Reads wait for a bank, where banks are described, and then for their channel; of a line that DRAM fetches they wait
/// for the bursts that they asked for. Each channel moves a byte in the time that the described sustained reads need
/// (activates and refresh are in that rate). Writes wait in the channel's queue and leave in batches of kWriteBatch
/// bytes, or for nothing while the channel is idle. For every batch among as many bytes of reads the bus turns round
/// twice, however the program mixes them: the controller chooses the order. The turnaround time follows from the
/// description, so that equal shares of reads and writes together reach memory.copy_bandwidth; reads alone and writes
/// alone do not turn the bus. While the memory pauses (memory.pause_interval, memory.pause_time) nothing of that goes
/// on, and what came meanwhile is served afterwards: banks and channels keep the time of a memory without pauses.
/// Described rates are net of pauses, so that between them it is faster.
class Dram {
public:
    /// Sustained rate: memory.read_bandwidth, else channels x channel_bytes_per_cycle, else peak_bandwidth. Throws
    /// InputError.
    explicit Dram(const machine::Machine& machine);

    struct Turn {
        double delay = 0;    ///< cycles that the read waits for its channel; 0 when that is free
        double service = 0;  ///< cycles that it takes there
        const Server* server =
            nullptr;  ///< the channel's; none where there are banks, because the parts of a read then lie in several
    };
    /// A read that arrives at `now`.
    Turn read(std::uint64_t physical, std::uint32_t bytes, double now);
    /// How long after `now` the channel's queue takes the write.
    double write(std::uint64_t physical, std::uint32_t bytes, double now);
    /// How far away the line lies: 0 the nearest, 1 the farthest, by its channel.
    [[nodiscard]] double distance(std::uint64_t physical) const;
    /// When all channels have done what is booked.
    [[nodiscard]] double busy_until() const;
    /// Queued writes and what was read are forgotten.
    void begin_launch();

    /// Consecutive blocks of this size lie on different channels.
    static constexpr std::uint64_t kInterleave = 256;
    /// Bytes that a channel collects before it turns to writing: 16 bursts of 64 bytes.
    static constexpr double kWriteBatch = 1024;

private:
    /// Bursts of a line, the last one included.
    struct Bursts {
        std::size_t first, last;
    };
    /// Reads a whole line; when those bursts have their channel. Times are the pauses' working time, here and below.
    double fetch(std::uint64_t line, Bursts wanted, double now);
    Turn serve_read(std::uint64_t physical, std::uint32_t bytes, double now);

    struct Channel {
        Server server;
        double queued = 0;       ///< bytes to write
        double batch_start = 0;  ///< when the last batch began, in real time
        double read = 0;         ///< bytes read that no batch has yet turned the bus for
    };
    [[nodiscard]] std::size_t channel_of(std::uint64_t physical) const;
    void use_idle_time(Channel& channel, double now) const;

    std::vector<Channel> channels_;
    Banks banks_;
    Pauses pauses_;
    double cycles_per_read_byte_ = 0;
    double cycles_per_written_byte_ = 0;
    double turnaround_ = 0;  ///< cycles per change of direction
};

}  // namespace gputomo::sim
