// How much longer reads of a loaded memory take, as a scan has measured it.
#pragma once

#include "machine/machine.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace gputomo::sim {

/// Wait of a read, in place of the queues before banks that are not described:
///
/// - at a throughput x of reads, the sum of b x / (c - x) over memory.contention_slopes (b) and
///   memory.contention_limits (c), Volkov 2016, 6.4;
///
/// - beside writes, machine::write_wait() of its address, with the share of the memory's time that writes take.
///
/// A leaf that is not there adds nothing. Throughput and share are those of the time just before the read, kBuckets of
/// kBucket cycles. Accesses may be added out of order, as long as they are less than kKept buckets apart.
class Contention {
public:
    /// Throws InputError where the leaves contradict each other.
    explicit Contention(const machine::Machine& machine);

    /// Cycles that a read of this address waits which arrives at `now`.
    [[nodiscard]] double wait(std::uint64_t address, double now) const;
    void add_read(double now, double bytes);
    /// Writes that take all channels of the memory together `cycles`.
    void add_write(double now, double cycles);
    void begin_launch();

    /// A longer time averages over phases of a kernel; in a shorter one single accesses of few SMs count as load.
    static constexpr double kBucket = 256;
    static constexpr std::int64_t kBuckets = 4;
    /// Accesses book their whole path when they are issued, with queues of up to some 10,000 cycles.
    static constexpr std::int64_t kKept = 256;
    /// Share of a limit at which the wait stops growing. Nearer to it the queue of the channels waits longer, and the
    /// measured curve is steep and uncertain.
    static constexpr double kMostOfLimit = 0.9;

private:
    struct Term {
        double slope, limit;  ///< cycles, bytes per cycle
    };
    struct Bucket {
        std::int64_t number = -1;
        double read = 0;     ///< bytes
        double writing = 0;  ///< cycles of the whole memory
    };
    [[nodiscard]] Bucket* bucket(double now);

    std::vector<Term> terms_;
    double write_delay_ = 0;  ///< cycles
    std::array<Bucket, kKept> buckets_;
};

}  // namespace gputomo::sim
