// A bandwidth that all SMs share, as the replayed SM meets it.
#pragma once

#include "costs/calendar.hpp"

#include <cstdint>

namespace gputomo::predict {

/// Who asks a shared resource when the replayed SM does.
struct Askers {
    double sms = 1;    ///< SMs that make the same requests
    double apart = 0;  ///< cycles between the SM that makes a request first and the one that makes it last
    double slower = 1;  ///< time that this SM waits for an equal part of what all share, over the mean
};

/// The replayed SM's requests stand for those of all SMs. While SMs are in step, they ask at the same time, and their
/// requests queue. SMs that are out of step ask at different times, and each meets a steady flow of the others'
/// requests. Half of the SMs ask before the replayed one does.
class GpuServer {
public:
    /// `long_services`: to serve the requests of all SMs takes several slots of the calendar, however small they are.
    explicit GpuServer(bool long_services = false) : calendar_(kSlots, long_services) {}

    /// When the replayed SM's part of a request begins to be served, which arrives at `now`. To serve the requests of
    /// all SMs takes `cycles`.
    double take(double now, double cycles, const Askers& askers);
    /// When the last request of the replayed SM has been served; 0 before the first.
    [[nodiscard]] double served_until() const { return served_until_; }
    /// Cycles for which requests of all SMs were served.
    [[nodiscard]] double busy() const { return busy_; }

private:
    /// Data are booked for when they arrive, behind the queue of DRAM, which may be long. With fewer slots, later
    /// requests would be booked behind that queue as well.
    static constexpr std::uint32_t kSlots = 1 << 16;
    /// Requests are booked at most that far apart, so that the calendar holds all that are open. SMs that are further
    /// apart make no steadier flow.
    static constexpr double kMostApart = kSlots * costs::Calendar::kSlot / 8;

    costs::Calendar calendar_;
    double busy_ = 0, served_until_ = 0;
};

}  // namespace gputomo::predict
