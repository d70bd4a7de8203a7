// The caches of an SM and its share of the L2 and of DRAM: when each line of an access is done.
#pragma once

#include "costs/partial_stores.hpp"
#include "launch/profile/launch_profile.hpp"
#include "predict/launch/gpu_server.hpp"
#include "predict/launch/memory_load.hpp"
#include "predict/launch/recent_granules.hpp"
#include "predict/launch/sm_rates.hpp"
#include "predict/launch/sm_server.hpp"
#include "predict/launch/sm_timeline.hpp"
#include "predict/launch/twin.hpp"
#include "units/number_set.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gputomo::predict {

/// A line of an access, and how many SMs of the GPC load it at about the same time.
struct SharedLine {
    const launch::TouchedLine& line;
    double sharers = 1;
};

class SmMemory {
public:
    /// Adds the bytes that it moves to `timeline`.
    SmMemory(const SmRates& rates, const Shares& shares, double partial_store, Timeline& timeline);

    /// After it was copied: refers to what belongs to the copy.
    void belong_to(const Shares& shares, Timeline& timeline) {
        shares_ = &shares;
        timeline_ = &timeline;
    }

    /// When a line of an access that leaves the SM at `now` is done. `twin` is that of the warp.
    double served(const launch::WarpAccess& access, const SharedLine& shared, double now, Twin& twin);
    /// From now on, blocks of earlier waves have run on all SMs, which are `apart` cycles out of step.
    void start_later_wave(double apart) {
        later_wave_ = true;
        apart_ = apart;
    }
    /// Books what other SMs still ask of atomic units for blocks of whole waves, of which this SM has not run all.
    void end_whole_waves(double now);
    /// Who else starts and ends a block when this SM does. The drift of memory.sm_spread counts for memory alone.
    [[nodiscard]] Askers askers_for_blocks() const { return {.sms = shares_->active_sms, .apart = apart_}; }
    /// When the last store has left the SM and has passed through the L2.
    [[nodiscard]] double stores_end() const {
        return std::max({stores_.free, store_share_.served_until(), stores_passed_});
    }
    /// When what all SMs share has served all that this SM has asked for so far.
    [[nodiscard]] double shares_end() const {
        double end = 0;
        for (const GpuServer* share : all_shares()) end = std::max(end, share->served_until());
        return end;
    }
    /// When the last atomic so far has left the SM.
    [[nodiscard]] double atomics_left() const { return atomics_left_; }
    /// When the units have performed the atomics of all SMs.
    [[nodiscard]] double atomics_end() const;
    void fill_busy(BusyCycles& busy) const;
    /// How busy the L2, DRAM and the ports of this SM to the L2 were, in cycles.
    [[nodiscard]] Utilisation used() const;

private:
    [[nodiscard]] std::array<const GpuServer*, 6> all_shares() const {
        return {&load_share_, &gpc_share_, &store_share_, &atomic_share_, &fabric_share_, &dram_};
    }
    /// When a bandwidth that `sms` SMs share serves this SM's part of a request. `cycles` are for all of them.
    double at_share(GpuServer& share, double now, double cycles, double sms) const {
        const double apart = std::max(apart_, rates_.sm_spread * (now - shares_->first_start));
        return share.take(now, cycles * scale_, {.sms = sms, .apart = apart, .slower = shares_->slowest});
    }
    double at_share(GpuServer& share, double now, double cycles) const {
        return at_share(share, now, cycles, shares_->active_sms);
    }
    double through(Server& port, GpuServer& share, const Bandwidth& bandwidth, double bytes, double now,
                   double weight = 1) const;
    Arrival load(const launch::WarpAccess& access, const SharedLine& shared, double now, double lag);
    /// These sectors are not in the L1.
    Arrival load_missing(const SharedLine& shared, std::uint32_t missing, std::uint32_t prefetched, double now,
                         double lag);
    /// The granules of the L2 that have these sectors of a line.
    struct Granules {
        std::array<std::uint64_t, launch::kTouchedLineBytes / launch::kTouchedSectorBytes> number{};
        std::size_t count = 0;
    };
    [[nodiscard]] Granules granules_of(const launch::TouchedLine& line, std::uint32_t sectors) const;
    [[nodiscard]] std::uint64_t granule_of(std::uint64_t sector) const;
    /// When the part of the L2 that has a line begins to serve it, which several SMs ask for at the same time.
    double through_part(const SharedLine& shared, std::size_t granules, double now);
    Arrival from_l2(const Granules& granules, double now, double lag, std::uint32_t prefetched = 0);
    void fetch_block_of(std::uint64_t granule, std::uint32_t prefetched, double now, double lag);
    [[nodiscard]] double streamed_of(std::uint64_t granule, std::size_t missing);
    /// `streamed` are the bytes of a stream in whose time DRAM reads it.
    Arrival fetch(std::uint64_t granule, double streamed, double now, double lag);
    /// How many granules of the line the L2 has to read; `prefetched` is the block that it reads at a miss.
    [[nodiscard]] std::size_t missing_of(const Granules& granules, std::uint32_t prefetched);
    /// Data that are on their way since an earlier request, where the twin is `lag` cycles behind.
    [[nodiscard]] Arrival on_the_way(std::uint64_t granule, double arrival, double now, double lag) const;
    /// When DRAM, asked for a line at `now`, has sent it after `latency` cycles to an SM at the mean distance.
    [[nodiscard]] Arrival from_memory(std::uint64_t address, double now, double latency, double lag,
                                      double share) const;
    /// When the way through the L2, which reads of DRAM and stores share, begins to carry this SM's part of the bytes.
    double through_fabric(double bytes, double now);
    double store(const launch::TouchedLine& line, double now);
    /// Memory fills up lines that the L2 no longer keeps as they are.
    void fill_partial(const launch::TouchedLine& line, std::uint32_t sectors, double now);
    void keep_stored(const launch::TouchedLine& line, double now);
    double behind_fill(const launch::TouchedLine& line, double now);
    double atomic(const launch::WarpAccess& access, const launch::TouchedLine& line, double now);
    /// Like atomic(), where the description knows the units that perform atomics.
    double at_unit(const launch::WarpAccess& access, const launch::TouchedLine& line, double now);
    void occupy_units(double cycles, double now);
    /// What goes to DRAM because these bytes are stored.
    void write_back(double bytes, double now);
    /// A byte takes `cost` times as long as that of a stream.
    void to_dram(double written, double cost, double now);
    void write_for(double cycles, double now);
    /// Cycles for which an access waits until its page can be translated.
    double translation(const launch::TouchedLine& line, double now);

    const SmRates& rates_;
    const Shares* shares_;
    Timeline* timeline_;
    double partial_store_;
    double scale_;  ///< of the cycles for which something is busy: 0 where nothing ever is
    RecentGranules l1_, l2_;
    MemoryLoad load_;
    Server loads_, stores_, atomics_;  ///< the SM's ports
    GpuServer load_share_, gpc_share_, store_share_, atomic_share_, fabric_share_, dram_;
    double stores_passed_ = 0;  ///< when the last store so far has passed the way that it shares with reads
    costs::StoreQueue waiting_stores_;
    costs::ScatteredAccesses scattered_reads_;
    costs::ScatteredAccesses filling_reads_, filling_writes_;  ///< of lines that the L2 fills up
    costs::PartialLines partial_lines_;                        ///< this SM's part of them
    std::vector<Server> shared_lines_;  ///< parts of the L2 that serve loads of all SMs for one line
    Server filling_;                    ///< parts of the L2 that stores to lines on their way from DRAM block
    std::vector<Server> atomic_units_;
    using AtomicInFlight = std::pair<double, double>;  ///< when it is performed, and its sectors
    std::priority_queue<AtomicInFlight, std::vector<AtomicInFlight>, std::greater<>> atomics_in_flight_;
    double atomic_sectors_in_flight_ = 0, atomics_left_ = 0;
    double own_atomics_ = 0;              ///< cycles of all units that this SM has asked for
    double booked_ahead_ = 0;             ///< of these, what is still to come beside others that are booked already
    double pending_atomics_ = 0;          ///< cycles of all units that other SMs ask for and that are not booked yet
    NumberSet seen_;                      ///< granules
    std::vector<double> later_for_twin_;  ///< by place in `seen_`: cycles; kNotYet where twins do not read it, too
    std::vector<std::unordered_map<std::uint64_t, double>> pages_;  ///< by TLB: when each entry is there
    static constexpr double kNotYet = std::numeric_limits<double>::max();
    double translated_ = kNotYet;  ///< when the first access of the SM was translated
    bool later_wave_ = false;
    double apart_ = 0;         ///< cycles by which SMs are out of step
    double written_back_ = 0;  ///< cycles of DRAM
    double fetched_ = 0;       ///< granules fetched for all SMs that were not waited for
};

}  // namespace gputomo::predict
