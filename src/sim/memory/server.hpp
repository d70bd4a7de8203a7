// A resource that does one cycle of work per cycle: a port, a DRAM channel.
#pragma once

#include <cstdint>
#include <vector>

namespace gputomo::sim {

/// Work is booked in a calendar of short slots instead of behind one next-free time. Accesses are walked when they are
/// issued, so one that waits long elsewhere (for an MSHR, say) reaches the server late although it is walked early;
/// with a calendar it does not delay another that is walked after it and arrives before it. Within a slot the order of
/// arrival is not kept.
class Server {
public:
    /// `slots` of kSlot cycles can be open at once; work booked further ahead closes the oldest slots.
    /// `long_services`: services are not short beside a slot, so that the time of a slot before the first work counts
    /// as past. It could otherwise be used by work that comes later, and queues would come out too short.
    explicit Server(std::uint32_t slots, bool long_services = false);

    /// Books `service` cycles of work that arrives at `now`; the time at which the work starts, `now` when the server
    /// is idle.
    double reserve(double now, double service);
    /// End of the last slot part that is booked; 0 before the first work.
    [[nodiscard]] double busy_until() const { return busy_until_; }

    static constexpr double kSlot = 16;

private:
    struct Slot {
        double used = 0;                           ///< cycles
        std::uint32_t number = ~std::uint32_t{0};  ///< low bits of the slot number that `used` belongs to
        std::uint32_t skip = 0;                    ///< of a full slot: distance to the next that may be open
    };
    [[nodiscard]] Slot& slot(std::int64_t number);
    [[nodiscard]] std::int64_t first_open(std::int64_t number);

    std::vector<Slot> slots_;
    bool long_services_ = false;
    std::int64_t newest_ = 0;
    double busy_until_ = 0;
};

}  // namespace gputomo::sim
