// The calendar of a resource that serves one request after the other: a port, a way through a cache, a DRAM channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::costs {

/// Work is booked in a calendar of short slots instead of behind one next-free time. A transaction books its whole path
/// when it is issued, so one that waits long elsewhere (for an MSHR, say) books a resource early and arrives there
/// late. With a calendar it does not delay another one that books after it and arrives before it. Within a slot the
/// order of arrival is not kept.
class Calendar {
public:
    /// `slots` of kSlot cycles can be open at once; work booked further ahead closes the oldest slots.
    /// `long_services`: services are not short compared with a slot, so that the part of a slot before its first work
    /// counts as past. Otherwise later work could use that part, and queues would come out too short.
    explicit Calendar(std::uint32_t slots, bool long_services = false);

    /// Books `service` cycles of work that arrives at `now`. Returns when the work starts: `now` where the resource
    /// is idle.
    double reserve(double now, double service);
    /// End of the last booked work; 0 before the first.
    [[nodiscard]] double busy_until() const { return busy_until_; }

    /// Cycles of a slot. Shorter slots keep the order of arrival more exactly and take more time to search.
    static constexpr double kSlot = 16;

private:
    static constexpr std::uint32_t kNever = ~std::uint32_t{0};
    struct Slot {
        double used = 0;                ///< cycles
        std::uint32_t number = kNever;  ///< low bits of the slot number that `used` belongs to
        std::uint32_t skip = 0;         ///< of a full slot: distance to the next slot that may be open
    };
    /// Valid until the next call.
    [[nodiscard]] Slot& slot(std::int64_t number);
    [[nodiscard]] std::int64_t first_open(std::int64_t number);
    void grow();

    std::size_t most_;         ///< slots that can be open at once
    std::vector<Slot> slots_;  ///< as many of them as requests have needed so far
    bool long_services_ = false;
    std::int64_t newest_ = 0;
    double busy_until_ = 0;
};

}  // namespace gputomo::costs
