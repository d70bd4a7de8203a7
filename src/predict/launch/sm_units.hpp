// The schedulers, units and stages of one SM: how long each is busy with an instruction, and when its result is there.
#pragma once

#include "costs/beside_products.hpp"
#include "costs/register_ports.hpp"
#include "costs/shared_queue.hpp"
#include "launch/profile/launch_profile.hpp"
#include "predict/launch/read_only_path.hpp"
#include "predict/launch/sm_memory.hpp"
#include "predict/launch/sm_rates.hpp"
#include "predict/launch/sm_server.hpp"
#include "predict/launch/sm_timeline.hpp"
#include "predict/launch/warp_timeline.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::predict {

class SmUnits {
public:
    /// `scale` is that of the cycles for which something is busy: 0 where nothing ever is.
    SmUnits(const launch::LaunchProfile& profile, const SmRates& rates, double scale);

    /// Whether the instruction issues only when its unit is free.
    [[nodiscard]] static bool waits_for_unit(const launch::ProfiledStep& step, const launch::WarpEvent& event) {
        return step.unit >= 0 && !step.queues && event.access != launch::kNotExecuted;
    }
    /// When the queue of shared memory has room for the next instruction of the warp.
    [[nodiscard]] double room_for(const ReplayedWarp& warp, const launch::ProfiledStep& step,
                                  const launch::WarpEvent& event) const;
    /// Ports are the schedulers, by their numbers, and then the units for which instructions wait before they issue.
    [[nodiscard]] std::size_t ports() const { return issue_.size() + units_of_sm_.size() + units_.size(); }
    [[nodiscard]] bool is_scheduler(std::size_t port) const { return port < issue_.size(); }
    /// Schedulers have units of the whole SM in turn.
    [[nodiscard]] bool serves_all_schedulers(std::size_t port) const {
        return !is_scheduler(port) && port < issue_.size() + units_of_sm_.size();
    }
    [[nodiscard]] std::size_t port_of_unit(const launch::ProfiledStep& step, std::uint32_t scheduler) const;
    [[nodiscard]] double free(std::size_t port) const;
    /// When the scheduler, which is free, has issued the instruction that it chose at `now`. The unit is then busy.
    double issue(const launch::ProfiledStep& step, const launch::WarpEvent& event, std::uint32_t scheduler,
                 std::uint32_t warp, double now);
    /// When the unit begins with an instruction that was issued at `at` and waits in the unit's queue.
    double queue(const launch::ProfiledStep& step, std::uint32_t scheduler, double at);

    /// When the operands of an access are read, at the earliest, and when its result is written.
    struct Served {
        double read = 0, written = 0;
    };
    /// An access of a warp of the block that `trace` recorded, issued at `at`. Notes in the warp what it waits for
    /// later.
    Served access(ReplayedWarp& warp, const launch::BlockTrace& trace, const launch::ProfiledStep& step,
                  const launch::WarpEvent& event, SmMemory& memory, double at);
    /// The SM's unit takes the lines of bulk copies one after the other. Returns when all bytes are where they go.
    double copy_bulk(ReplayedWarp& warp, const launch::BlockTrace& trace, const launch::WarpEvent& event,
                     SmMemory& memory, double at);

    void fill_busy(BusyCycles& busy) const;
    /// Adds what this SM uses, of which all SMs do the share `active`.
    void fill_used(Utilisation& used, double active) const;

private:
    [[nodiscard]] Server& unit_of(const launch::ProfiledStep& step, std::uint32_t scheduler);
    [[nodiscard]] std::span<const Server> of_schedulers(std::size_t unit) const;
    [[nodiscard]] Server& stage(launch::Stage which) { return stages_[static_cast<std::size_t>(which)]; }
    [[nodiscard]] double slots_of(const launch::ProfiledStep& step, const launch::WarpEvent& event) const;
    void hold_arithmetic_back(const launch::ProfiledStep& step, const launch::WarpEvent& event, std::uint32_t scheduler,
                              double at);
    /// When the first cache of constants has all of these lines.
    double constants_at(std::span<const launch::TouchedLine> lines, const ReplayedWarp& warp, double at);

    const launch::LaunchProfile& profile_;
    const SmRates& rates_;
    double scale_;
    ReadOnlyPath constants_;
    std::vector<Server> issue_;                ///< by scheduler
    std::vector<costs::RegisterPorts> ports_;  ///< by scheduler
    costs::SharedQueue shared_queue_;
    std::vector<Server> units_of_sm_, units_;
    std::vector<costs::ProductsUnderWay> products_;  ///< by scheduler
    std::vector<std::size_t> arithmetic_units_;      ///< of a scheduler
    double issued_ = 0;             ///< cycles in which an instruction issued, without the further slots that it takes
    Server bulk_;                   ///< the unit of bulk copies
    std::array<Server, 4> stages_;  ///< by launch::Stage
};

}  // namespace gputomo::predict
