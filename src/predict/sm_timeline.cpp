#include "predict/sm_timeline.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <list>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace gputomo::predict {
namespace {

/// Cycles for which the first cache of an SM is busy with a line of a load or an atomic, and with one of a store. An
/// H200 takes 1.04 and 2.01 for warps whose threads access a line each.
constexpr double kLoadLineCycles = 1, kStoreLineCycles = 2;
/// Cycles of stores that wait behind an SM before its warps wait. The simulated GPU has the same number.
constexpr double kWaitingStores = 1000;
constexpr std::size_t kDependences = 6;
constexpr std::size_t kMostKeptCompletions = 64;

/// Something that serves one request after the other.
struct Server {
    double free = 0, busy = 0;
    /// When a request that arrives at `now` and takes `cycles` begins to be served.
    double take(double now, double cycles) {
        const double start = std::max(now, free);
        free = start + cycles;
        busy += cycles;
        return start;
    }
};

/// The most recently used granules that fit a capacity, each with the time at which its data arrive.
class RecentGranules {
public:
    explicit RecentGranules(double capacity) : capacity_(static_cast<std::size_t>(std::max(0.0, capacity))) {}

    /// The arrival of a granule that is there, which becomes the most recent; nullptr if it is not.
    double* find(std::uint64_t granule) {
        const auto found = places_.find(granule);
        if (found == places_.end()) return nullptr;
        order_.splice(order_.begin(), order_, found->second);
        return &found->second->second;
    }
    void insert(std::uint64_t granule, double arrival) {
        if (capacity_ == 0) return;
        if (places_.size() >= capacity_) {
            places_.erase(order_.back().first);
            order_.pop_back();
        }
        order_.emplace_front(granule, arrival);
        places_[granule] = order_.begin();
    }

private:
    std::size_t capacity_;
    std::list<std::pair<std::uint64_t, double>> order_;
    std::unordered_map<std::uint64_t, std::list<std::pair<std::uint64_t, double>>::iterator> places_;
};

/// Cycles over which the throughput of reads is averaged, in `kBuckets` parts. A longer time averages over phases of a
/// kernel, and in a shorter one single accesses count as load.
constexpr double kBucketCycles = 256;
constexpr std::int64_t kBuckets = 4;
/// Share of a limit at which the wait stops growing: nearer to it the measured curve is steep and uncertain.
constexpr double kMostOfLimit = 0.9;

/// How long reads wait because memory is busy with those of all SMs.
class MemoryLoad {
public:
    explicit MemoryLoad(const std::vector<ContentionTerm>& terms) : terms_(terms) {}

    void add(double now, double bytes) {
        Bucket& bucket = bucket_of(number_of(now));
        if (bucket.number < number_of(now)) bucket = {number_of(now), 0};
        if (bucket.number == number_of(now)) bucket.bytes += bytes;
    }
    [[nodiscard]] double wait(double now) {
        if (terms_.empty()) return 0;
        double bytes = 0;
        for (std::int64_t i = std::max<std::int64_t>(0, number_of(now) - kBuckets); i < number_of(now); ++i)
            if (bucket_of(i).number == i) bytes += bucket_of(i).bytes;
        double cycles = 0;
        for (const auto& [slope, limit] : terms_) {
            const double rate = std::min(bytes / (kBucketCycles * kBuckets), kMostOfLimit * limit);
            cycles += slope * rate / (limit - rate);
        }
        return cycles;
    }

private:
    struct Bucket {
        std::int64_t number = -1;
        double bytes = 0;
    };
    static std::int64_t number_of(double now) { return static_cast<std::int64_t>(now / kBucketCycles); }
    Bucket& bucket_of(std::int64_t number) { return buckets_[static_cast<std::size_t>(number) % buckets_.size()]; }

    const std::vector<ContentionTerm>& terms_;
    std::array<Bucket, 256> buckets_;
};

struct ReplayedWarp {
    std::uint32_t block = 0, in_block = 0;
    const std::vector<WarpEvent>* events = nullptr;
    std::size_t next = 0;
    std::uint32_t scheduler = 0;
    double hold = 0;        ///< earliest issue of the next instruction
    double issued = 0;      ///< when the last instruction was issued
    bool has_unit = false;  ///< the unit of the next instruction was taken for it
    std::array<double, kDependences> released{};
    std::array<std::vector<double>, kDependences> completions;
    double memory_done = 0, copies_done = 0;
};

struct ReplayedBlock {
    const BlockTrace* trace = nullptr;
    std::size_t running = 0;             ///< warps that have not ended
    std::vector<std::uint32_t> arrived;  ///< warps at the barrier
    double latest = 0;                   ///< arrival at the barrier
};

class Replay {
public:
    Replay(const LaunchProfile& profile, const SmRates& rates, const Shares& shares)
        : profile_(profile),
          rates_(rates),
          shares_(shares),
          scale_(shares.contention ? 1 : 0),
          l1_(rates.l1_bytes / kTouchedSectorBytes),
          l2_(shares.l2_bytes / rates.l2_granule),
          load_(rates.contention),
          issue_(static_cast<std::size_t>(rates.schedulers)),
          units_of_sm_(profile.units.size()),
          units_(profile.units.size() * issue_.size()) {
        timeline_.waited.assign(profile.steps.size(), 0);
    }

    Timeline run(std::span<const BlockTrace> blocks) {
        blocks_.resize(blocks.size());
        for (std::size_t i = 0; i < blocks.size(); ++i) blocks_[i].trace = &blocks[i];
        const std::size_t resident = std::max<std::size_t>(1, profile_.resident_blocks);
        while (next_block_ < std::min(resident, blocks_.size())) start_block(0);
        while (running_ > 0) {
            if (queue_.empty()) release_stuck();
            const auto [now, index] = queue_.top();
            queue_.pop();
            issue(index, now);
        }
        // Stores that left the SM have to arrive.
        timeline_.cycles = std::max({timeline_.cycles, scale_ * stores_.free, scale_ * store_share_.free});
        fill_busy();
        return std::move(timeline_);
    }

private:
    void start_block(double now) {
        const auto index = static_cast<std::uint32_t>(next_block_++);
        ReplayedBlock& block = blocks_[index];
        // All SMs start blocks in turn.
        const double interval = rates_.block_interval * shares_.active_sms;
        const double start = starts_.take(now, interval * scale_);
        block.running = block.trace->warps.size();
        running_ += block.running;
        for (std::uint32_t w = 0; w < block.trace->warps.size(); ++w) {
            const auto number = static_cast<std::uint32_t>(warps_.size());
            ReplayedWarp& warp = warps_.emplace_back();
            warp.block = index;
            warp.in_block = w;
            warp.events = &block.trace->warps[w];
            warp.scheduler = next_scheduler_++ % static_cast<std::uint32_t>(issue_.size());
            warp.hold = warp.issued = start;
            if (warp.events->empty())
                end_warp(number, start);
            else
                queue_.emplace(start, number);
        }
    }

    void end_warp(std::uint32_t index, double now) {
        ReplayedBlock& block = blocks_[warps_[index].block];
        --running_;
        timeline_.cycles = std::max(timeline_.cycles, now);
        if (--block.running == 0) {
            if (next_block_ < blocks_.size()) start_block(now + rates_.block_replacement);
        } else {
            release_if_complete(block);
        }
    }

    void release_if_complete(ReplayedBlock& block) {
        if (block.arrived.empty() || block.arrived.size() < block.running) return;
        const double release = block.latest + rates_.barrier_latency;
        const auto released = std::exchange(block.arrived, {});
        block.latest = 0;
        for (const auto index : released) {
            warps_[index].hold = std::max(warps_[index].hold, release);
            queue_next(index);
        }
    }

    /// A block whose warps wait at different barriers goes on: counts of threads at a barrier are not recorded.
    void release_stuck() {
        for (ReplayedBlock& block : blocks_) {
            if (block.arrived.empty()) continue;
            const std::size_t running = std::exchange(block.running, block.arrived.size());
            release_if_complete(block);
            block.running = running;
            return;
        }
        running_ = 0;
    }

    /// Puts the warp into the queue with the time at which its next instruction can issue, or ends it.
    void queue_next(std::uint32_t index) {
        ReplayedWarp& warp = warps_[index];
        if (warp.next == warp.events->size()) return end_warp(index, std::max(warp.issued, warp.memory_done));
        const ProfiledStep& step = profile_.steps[(*warp.events)[warp.next].step];
        double when = warp.hold;
        for (std::uint32_t waits = step.waits; waits != 0; waits &= waits - 1)
            when = std::max(when, warp.released[static_cast<std::size_t>(std::countr_zero(waits))]);
        if (step.kind == StepKind::fence) when = std::max(when, warp.memory_done);
        queue_.emplace(when, index);
    }

    Server& unit_of(const ProfiledStep& step, std::uint32_t scheduler) {
        const auto unit = static_cast<std::size_t>(step.unit);
        return profile_.units[unit].of_sm ? units_of_sm_[unit] : units_[unit * issue_.size() + scheduler];
    }

    void issue(std::uint32_t index, double now) {
        ReplayedWarp& warp = warps_[index];
        const WarpEvent& event = (*warp.events)[warp.next];
        const ProfiledStep& step = profile_.steps[event.step];
        if (step.unit >= 0 && !warp.has_unit && event.access != kNotExecuted) {
            const double start = unit_of(step, warp.scheduler).take(now, step.interval * scale_);
            if (start > now) {
                // Others issue until the unit is free.
                warp.has_unit = true;
                queue_.emplace(start, index);
                return;
            }
        }
        warp.has_unit = false;
        const double slots = slots_of(step, event);
        const double at = issue_[warp.scheduler].take(now, slots * rates_.issue_interval * scale_);
        timeline_.waited[event.step] += at - warp.issued;
        warp.issued = at;
        warp.hold = at + step.stall;
        ++warp.next;
        complete(index, step, event, at);
    }

    [[nodiscard]] double slots_of(const ProfiledStep& step, const WarpEvent& event) const {
        if (event.access == kNotExecuted) return 1;
        if (event.access == kNoAccess) return step.slots;
        return step.kind == StepKind::shared ? rates_.shared_slots : rates_.access_slots;
    }

    void complete(std::uint32_t index, const ProfiledStep& step, const WarpEvent& event, double at) {
        ReplayedWarp& warp = warps_[index];
        if (event.access == kNotExecuted) {
            if (step.kind == StepKind::branch) jump(warp, event, at);
            return queue_next(index);
        }
        double read = at + std::max(step.interval, rates_.issue_interval), written = at + step.latency;
        if (event.access != kNoAccess) access(warp, step, event, at, read, written);
        switch (step.kind) {
            case StepKind::constant: written = at + rates_.constant_latency; break;
            case StepKind::copy_barrier: written = std::max(at, warp.copies_done); break;
            case StepKind::wait: wait(warp, step, at); break;
            case StepKind::branch: jump(warp, event, at); break;
            case StepKind::block_barrier: {
                release(warp, step, read, written);
                ReplayedBlock& block = blocks_[warp.block];
                block.arrived.push_back(index);
                block.latest = std::max(block.latest, at);
                release_if_complete(block);
                return;
            }
            default: break;
        }
        release(warp, step, read, written);
        queue_next(index);
    }

    /// A warp that goes on elsewhere waits for the branch.
    void jump(ReplayedWarp& warp, const WarpEvent& event, double at) const {
        if (warp.next < warp.events->size() && (*warp.events)[warp.next].step != event.step + 1)
            warp.hold = std::max(warp.hold, at + rates_.branch_latency);
    }

    static void release(ReplayedWarp& warp, const ProfiledStep& step, double read, double written) {
        const auto set = [&](std::uint8_t barrier, double when) {
            if (barrier >= kDependences) return;
            warp.released[barrier] = std::max(warp.released[barrier], when);
            auto& completions = warp.completions[barrier];
            if (completions.size() == kMostKeptCompletions) completions.erase(completions.begin());
            completions.push_back(when);
        };
        set(step.written, written);
        set(step.read, read);
    }

    static void wait(ReplayedWarp& warp, const ProfiledStep& step, double at) {
        if (step.barrier >= kDependences) return;
        const auto& completions = warp.completions[step.barrier];
        double when = at;
        for (std::size_t i = 0; i + step.left < completions.size(); ++i) when = std::max(when, completions[i]);
        warp.hold = std::max(warp.hold, when);
    }

    void access(ReplayedWarp& warp, const ProfiledStep& step, const WarpEvent& event, double at, double& read,
                double& written) {
        const BlockTrace& trace = *blocks_[warp.block].trace;
        const WarpAccess& access = trace.accesses[event.access];
        double done = at;
        if (access.bank_cycles > 0) {
            const double start = banks_.take(at, static_cast<double>(access.bank_cycles) * scale_);
            read = std::max(read, start);
            done = start + static_cast<double>(access.bank_latency);
        }
        if (access.lines > 0) {
            const std::span lines(trace.lines.data() + access.first, access.lines);
            const double cycles = access.kind == AccessKind::store ? kStoreLineCycles : kLoadLineCycles;
            const double first = first_cache_.take(at, cycles * static_cast<double>(lines.size()) * scale_);
            for (std::size_t i = 0; i < lines.size(); ++i) {
                const double leaves = first + cycles * static_cast<double>(i);
                read = std::max(read, leaves);
                done = std::max(done, served(access, lines[i], leaves));
            }
            if (access.kind == AccessKind::store) warp.hold = std::max(warp.hold, done - kWaitingStores);
        }
        if (step.kind == StepKind::copy) warp.copies_done = std::max(warp.copies_done, done);
        if (access.kind != AccessKind::store) warp.memory_done = std::max(warp.memory_done, done);
        written = done;
    }

    /// When a line of an access is done.
    double served(const WarpAccess& access, const TouchedLine& line, double now) {
        if (access.kind == AccessKind::store) return store(line, now);
        if (access.kind == AccessKind::atomic) return atomic(line, now);
        double done = now + rates_.l1_latency;
        std::uint32_t missing = 0;
        for (std::uint32_t sectors = line.sectors; sectors != 0; sectors &= sectors - 1) {
            const auto sector = static_cast<std::uint32_t>(std::countr_zero(sectors));
            timeline_.l1_bytes += kTouchedSectorBytes;
            const double* const arrival = access.skips_near ? nullptr : l1_.find(number_of(line, sector));
            if (arrival == nullptr) {
                missing |= 1U << sector;
                continue;
            }
            timeline_.l1_hit_bytes += kTouchedSectorBytes;
            done = std::max(done, *arrival);
        }
        if (missing == 0) return done;
        const double arrival = load(line, missing, now);
        if (!access.skips_near)
            for (; missing != 0; missing &= missing - 1)
                l1_.insert(number_of(line, static_cast<std::uint32_t>(std::countr_zero(missing))), arrival);
        return std::max(done, arrival);
    }

    static std::uint64_t number_of(const TouchedLine& line, std::uint32_t sector) {
        return line.line * (kTouchedLineBytes / kTouchedSectorBytes) + sector;
    }

    /// Cycles of the SM's port and of its share of the GPU's bandwidth.
    double through(Server& port, Server& share, const Bandwidth& bandwidth, double bytes, double now) {
        double start = now;
        if (bandwidth.sm > 0) start = port.take(start, bytes / bandwidth.sm * scale_);
        if (bandwidth.gpu > 0) start = share.take(start, bytes * shares_.active_sms / bandwidth.gpu * scale_);
        return start;
    }

    double load(const TouchedLine& line, std::uint32_t missing, double now) {
        const double bytes = static_cast<double>(std::popcount(missing)) * kTouchedSectorBytes;
        timeline_.l2_read_bytes += bytes;
        const double start = through(loads_, load_share_, rates_.loads, bytes, now);
        const auto granule_sectors =
            std::max<std::uint64_t>(1, static_cast<std::uint64_t>(rates_.l2_granule) / kTouchedSectorBytes);
        double done = start + rates_.l2_latency;
        std::uint64_t last = ~std::uint64_t{0};
        for (; missing != 0; missing &= missing - 1) {
            const auto sector = static_cast<std::uint32_t>(std::countr_zero(missing));
            const std::uint64_t granule = number_of(line, sector) / granule_sectors;
            if (granule == last) continue;
            last = granule;
            if (const double* const arrival = l2_.find(granule)) {
                done = std::max(done, *arrival);
                continue;
            }
            const double arrival = fetch(granule, start);
            l2_.insert(granule, arrival);
            done = std::max(done, arrival);
        }
        return done;
    }

    /// A granule that this SM reads for the first time, or again after the L2 evicted it. SMs that run alike ask for it
    /// at the same time: one of them has it fetched, and all wait for it.
    double fetch(std::uint64_t granule, double now) {
        const bool again = !seen_.insert(granule).second;
        const double share = again ? 1 : shares_.first_of_gpu;
        const double bytes = share * rates_.l2_granule;
        timeline_.dram_read_bytes += bytes;
        const double queued = dram_.take(now, bytes * shares_.active_sms / rates_.memory_bandwidth * scale_);
        const double start = std::max(queued, now + load_.wait(now) * scale_);
        load_.add(now, bytes * shares_.active_sms);
        fetched_ += share;
        if (next_block_ > std::max<std::size_t>(1, profile_.resident_blocks)) {
            // Blocks of earlier waves have read the others on another SM.
            if (fetched_ < 1) return now + rates_.l2_latency;
            fetched_ -= 1;
        }
        const double writing = now > 0 ? std::min(1.0, written_back_ / now) : 0;
        return start + rates_.memory_latency + rates_.write_delay * writing * scale_;
    }

    double store(const TouchedLine& line, double now) {
        const double bytes = static_cast<double>(std::popcount(line.sectors)) * kTouchedSectorBytes;
        timeline_.l2_written_bytes += bytes;
        const double start = through(stores_, store_share_, rates_.stores, bytes, now);
        write_back(bytes, start);
        return start;
    }

    double atomic(const TouchedLine& line, double now) {
        const double bytes = static_cast<double>(std::popcount(line.sectors)) * kTouchedSectorBytes;
        timeline_.l2_atomic_bytes += bytes;
        return through(atomics_, atomic_share_, rates_.atomics, bytes, now) + rates_.l2_latency;
    }

    void write_back(double bytes, double now) {
        const double written = bytes * shares_.written_back;
        if (written == 0) return;
        timeline_.dram_written_bytes += written;
        const double cycles = written * rates_.write_cost * shares_.active_sms / rates_.memory_bandwidth;
        written_back_ += cycles;
        (void)dram_.take(now, cycles * scale_);
    }

    void fill_busy() {
        const auto most = [](const auto& servers, std::size_t first, std::size_t count) {
            double busy = 0;
            for (std::size_t i = first; i < first + count; ++i) busy = std::max(busy, servers[i].busy);
            return busy;
        };
        auto& busy = timeline_.busy;
        busy[kIssue] = most(issue_, 0, issue_.size());
        for (std::size_t unit = 0; unit < profile_.units.size(); ++unit)
            busy["unit " + profile_.units[unit].name] =
                std::max(units_of_sm_[unit].busy, most(units_, unit * issue_.size(), issue_.size()));
        busy[kFirstCache] = first_cache_.busy;
        busy[kBanks] = banks_.busy;
        busy[kL2Loads] = std::max(loads_.busy, load_share_.busy);
        busy[kL2Stores] = std::max(stores_.busy, store_share_.busy);
        busy[kL2Atomics] = std::max(atomics_.busy, atomic_share_.busy);
        busy[kDram] = dram_.busy;
        busy[kBlockStarts] = starts_.busy;
        std::erase_if(busy, [](const auto& row) { return row.second == 0; });
    }

    using Next = std::pair<double, std::uint32_t>;

    const LaunchProfile& profile_;
    const SmRates& rates_;
    const Shares& shares_;
    double scale_;
    RecentGranules l1_, l2_;
    MemoryLoad load_;
    std::vector<Server> issue_, units_of_sm_, units_;
    Server first_cache_, banks_, loads_, load_share_, stores_, store_share_, atomics_, atomic_share_, dram_, starts_;
    std::vector<ReplayedBlock> blocks_;
    std::vector<ReplayedWarp> warps_;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue_;
    std::unordered_set<std::uint64_t> seen_;
    std::size_t next_block_ = 0, running_ = 0;
    std::uint32_t next_scheduler_ = 0;
    double written_back_ = 0;  ///< cycles of DRAM
    double fetched_ = 0;       ///< granules fetched for all SMs that were not waited for
    Timeline timeline_;
};

}  // namespace

Timeline replay_sm(const LaunchProfile& profile, const SmRates& rates, const Shares& shares,
                   std::span<const BlockTrace> blocks) {
    return Replay(profile, rates, shares).run(blocks);
}

TouchedBytes touched_bytes(std::span<const BlockTrace> blocks, double granule) {
    const auto sectors = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(granule) / kTouchedSectorBytes);
    std::unordered_set<std::uint64_t> read, written;
    for (const BlockTrace& block : blocks)
        for (const WarpAccess& access : block.accesses)
            for (std::size_t i = access.first; i < std::size_t{access.first} + access.lines; ++i)
                for (std::uint32_t bits = block.lines[i].sectors; bits != 0; bits &= bits - 1)
                    (access.kind == AccessKind::store ? written : read)
                        .insert((block.lines[i].line * (kTouchedLineBytes / kTouchedSectorBytes) +
                                 static_cast<std::uint64_t>(std::countr_zero(bits))) /
                                sectors);
    return {static_cast<double>(read.size()) * granule, static_cast<double>(written.size()) * granule};
}

}  // namespace gputomo::predict
