#include "predict/launch/launch_prediction.hpp"

#include "costs/dram_writes.hpp"
#include "launch/profile/sharers.hpp"
#include "predict/launch/atomic_load.hpp"
#include "predict/launch/doubts.hpp"
#include "predict/launch/l2_use.hpp"
#include "predict/launch/touched_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>

namespace gputomo::predict {
namespace {

/// Share of exchanged sectors above which a prediction warns. Blocks that share the edges of their parts of an array
/// have a few percent.
constexpr double kExchanged = 0.1;
/// Where the time of an atomic is not described, a warning assumes that one address takes an atomic a cycle. An H200
/// takes 1.45 cycles. It warns where these take this share of the launch.
constexpr double kLeastBetweenAtomics = 1, kContended = 0.1;
/// Share of the compare-and-swap requests that may meet others before a prediction warns.
constexpr double kMetSwaps = 0.02;
/// SMs complete each other's lines where they write this share of each of them together. What all write at the edges of
/// a grid is missing.
constexpr double kWhole = 0.9;
/// Whole waves after which the SMs are so far out of step that blocks that are left over fill gaps.
constexpr std::uint64_t kWavesInStep = 4;

/// What one SM needs for all of its blocks.
struct SmResult {
    double cycles = 0, latency = 0;
    Timeline replayed;    ///< of the recorded blocks
    double factor = 1;    ///< blocks of the SM over those recorded
    double recorded = 1;  ///< blocks
};

class LaunchPredictor {
public:
    LaunchPredictor(const launch::LaunchProfile& profile, const machine::Machine& machine, std::string_view origin,
                    const L2Content& content)
        : profile_(profile),
          machine_(machine),
          content_(content),
          rates_(sm_rates_of(machine, profile.shared_of_block * profile.resident_blocks, origin)) {
        if (rates_.atomic_units) atomics_.emplace(profile, *rates_.atomic_units);
        find_writers_of_lines();
    }

    LaunchPrediction predict() {
        fill_launch();
        fill_counts();
        if (const auto whole = whole_waves()) {
            const auto blocks = static_cast<std::size_t>(*whole) * profile_.resident_blocks;
            for (const auto& sm : profile_.sms)
                results_.push_back(
                    result_of(std::span(sm).first(blocks), static_cast<double>(blocks), part_of_grid(blocks)));
            add_last_wave(blocks);
        } else {
            for (std::size_t i = 0; i < profile_.sms.size(); ++i)
                results_.push_back(result_of(profile_.sms[i], blocks_of_sm(i), 1));
        }
        fill_times();
        fill_bytes();
        fill_instructions();
        fill_remarks();
        return std::move(to_);
    }

private:
    /// How many SMs would have `of_sm` blocks each. What all SMs share is divided by it: an SM with more blocks
    /// than others asks for more of it. It goes on alone when the others have ended.
    [[nodiscard]] double active_sms(double of_sm) const {
        return std::min(rates_.sms, static_cast<double>(profile_.blocks - profile_.empty_blocks) / of_sm);
    }

    /// How many blocks run on a replayed SM. A launch of several waves ends with the SMs that run the most blocks; each
    /// of the replayed ones stands for them.
    [[nodiscard]] double blocks_of_sm(std::size_t replayed) const {
        if (!profile_.blocks_of_sms.empty()) return profile_.blocks_of_sms[replayed];
        const std::uint64_t first = in_one_wave() ? profile_.sms[replayed].front().block : 0;
        return std::ceil((static_cast<double>(profile_.blocks) - static_cast<double>(first)) / rates_.sms);
    }

    /// Waves that fill the GPU, where a part of one follows and all blocks of these waves were recorded. Returns
    /// nullopt otherwise. After many waves, blocks that are left over fill gaps.
    [[nodiscard]] std::optional<std::uint64_t> whole_waves() const {
        const auto of_wave = static_cast<std::uint64_t>(rates_.sms) * profile_.resident_blocks;
        if (!profile_.blocks_of_sms.empty() || of_wave == 0) return {};
        const std::uint64_t whole = profile_.blocks / of_wave;
        if (whole == 0 || whole > kWavesInStep || profile_.blocks % of_wave == 0) return {};
        for (const auto& sm : profile_.sms)
            if (sm.size() < whole * profile_.resident_blocks) return {};
        return whole;
    }

    /// The share of the grid that is done when each SM has run `of_sm` blocks.
    [[nodiscard]] double part_of_grid(std::size_t of_sm) const {
        return static_cast<double>(of_sm) * rates_.sms / static_cast<double>(profile_.blocks);
    }

    /// The blocks that are left over run on few SMs, with less contention.
    void add_last_wave(std::size_t before) {
        const auto resident = static_cast<double>(profile_.resident_blocks);
        const double left = static_cast<double>(profile_.blocks) - static_cast<double>(before) * rates_.sms;
        const double of_sm = blocks_end_together() ? std::min(left, resident) : std::ceil(left / rates_.sms);
        const auto& first = profile_.sms.front();
        const std::size_t wave = profile_.resident_blocks;
        Shares shares = shares_of(std::span(first).first(before), 1, part_of_grid(before));
        shares.active_at_end = std::ceil(left / of_sm);
        shares.atomic_shares.own *= static_cast<double>(wave) / static_cast<double>(before);  // one wave is replayed
        shares.atomics_at_end =
            shares.atomic_shares.others * (shares.active_at_end - 1) / std::max(1.0, shares.active_sms - 1);
        const auto last = last_blocks(before, static_cast<std::size_t>(of_sm));
        const auto longer = [&] {
            const auto both =
                replay_whole_and_first(profile_, rates_, shares, std::span(first).first(wave), last, wave);
            return both.whole.cycles - both.first.cycles;
        };
        last_wave_ = longer();
        for (SmResult& result : results_)  // what is busy in the mean over all SMs
            result.factor = static_cast<double>(profile_.blocks) / rates_.sms / static_cast<double>(before);
        shares.contention = false;
        last_wave_latency_ = longer();
    }

    /// Whether the blocks of an SM end within the time in which all blocks of a wave start, and those of different SMs
    /// end. The first SM that is free then gets as many of the blocks that are left over as it holds. Otherwise all SMs
    /// get one before one gets two.
    [[nodiscard]] bool blocks_end_together() const {
        double earliest = results_.front().replayed.cycles, latest = earliest, apart = 0;
        for (const SmResult& result : results_) {
            const auto& ends = result.replayed.ends;
            earliest = std::min(earliest, ends.back());
            latest = std::max(latest, ends.back());
            apart = std::max(apart, ends.back() - ends[ends.size() - profile_.resident_blocks]);
        }
        return apart <= latest - earliest + rates_.block_interval * rates_.sms * profile_.resident_blocks;
    }

    /// Recorded blocks that stand for those left over: the latter as far as they were recorded, then blocks that ran
    /// on other SMs.
    [[nodiscard]] std::vector<const launch::BlockTrace*> last_blocks(std::size_t before, std::size_t count) const {
        std::vector<const launch::BlockTrace*> last;
        const auto add = [&](const launch::BlockTrace& block) {
            if (last.size() < count) last.push_back(&block);
        };
        for (const auto& sm : profile_.sms)
            for (const auto& block : std::span(sm).subspan(before)) add(block);
        for (auto sm = profile_.sms.rbegin(); sm != profile_.sms.rend(); ++sm)
            for (const auto& block : std::span(*sm).first(before)) add(block);
        return last;
    }

    void fill_launch() {
        to_.kernel = profile_.kernel;
        to_.gpu = rates_.gpu;
        to_.blocks = profile_.blocks;
        to_.sampled_blocks = profile_.sampled.size();
        to_.residency_limit = profile_.residency_limit;
        to_.max_warps = rates_.max_warps;
        to_.resident_blocks =
            std::min<double>(profile_.resident_blocks, std::ceil(static_cast<double>(to_.blocks) / rates_.sms));
        if (to_.resident_blocks < profile_.resident_blocks) to_.residency_limit = "the grid";
        to_.resident_warps = to_.resident_blocks * static_cast<double>(profile_.warps_of_block());
        to_.waves = static_cast<double>(to_.blocks - profile_.empty_blocks) / (rates_.sms * profile_.resident_blocks);
        to_.footprint = profile_.footprint;
    }

    void fill_counts() {
        double shared = 0, banks = 0, conflict_free = 0;
        const double each = static_cast<double>(profile_.blocks) / static_cast<double>(profile_.sampled.size());
        for (const launch::BlockCounts& block : profile_.sampled) {
            to_.instructions += each * block.instructions;
            to_.thread_instructions += each * block.thread_instructions;
            to_.transactions += each * block.transactions;
            shared += each * block.shared_accesses;
            banks += each * block.bank_cycles;
            conflict_free += each * block.conflict_free_cycles;
        }
        to_.shared_accesses = shared;
        to_.bank_conflict_ratio = conflict_free > 0 ? banks / conflict_free : 1;
    }

    /// How many SMs of a block's GPC have blocks.
    [[nodiscard]] double gpc_sms(std::uint64_t block, double active) const {
        const bool in_turn = profile_.blocks_of_sms.empty() || profile_.empty_blocks > 0;
        if (in_turn && active >= std::min(rates_.sms, static_cast<double>(profile_.blocks)))
            return static_cast<double>(launch::blocks_of_gpc(machine_, profile_.blocks, block).size() + 1);
        return std::max(1.0, active / rates_.gpcs);
    }

    /// The SM runs `factor` times as many blocks as these, while all SMs run `part` of the grid.
    [[nodiscard]] Shares shares_of(std::span<const launch::BlockTrace> blocks, double factor, double part) const {
        const double active = active_sms(factor * static_cast<double>(blocks.size()));
        const TouchedBytes touched = touched_bytes(blocks, rates_.l2_granule);
        const auto& grid = profile_.footprint;
        const double read_by_sms = touched.read * factor * active;
        double stored = 0;
        for (const launch::BlockTrace& block : blocks)
            for (const launch::WarpAccess& access : block.accesses)
                if (access.kind != launch::AccessKind::load)
                    for (std::size_t i = access.first; i < std::size_t{access.first} + access.lines; ++i)
                        stored +=
                            static_cast<double>(launch::kTouchedSectorBytes) * std::popcount(block.lines[i].sectors);
        const double read = std::max(grid.read, grid.fetched);
        const double first_of_gpu = read_by_sms > 0 ? std::min(1.0, read / read_by_sms) : 1;
        const L2Use l2 = l2_use_of({.capacity = rates_.l2_bytes,
                                    .sides = rates_.l2_sides,
                                    .read = grid.read,
                                    .written = grid.written,
                                    .readers = first_of_gpu > 0 ? 1 / first_of_gpu : 1},
                                   content_);
        return {.active_sms = active,
                // In one wave, the launch ends with the SM that has begun last.
                .first_start = rates_.first_interval * (active - 1) * (in_one_wave() ? 1 : 0.5),
                .slowest = in_one_wave() ? 1 + rates_.sm_spread / 2 : 1,
                .gpc_sms = gpc_sms(blocks.front().block, active),
                .first_of_gpu = first_of_gpu,
                .l2_bytes = l2.fits ? rates_.l2_bytes : std::min(l2.kept_of_read, 1.0) * touched.read * factor,
                .written_back = stored > 0 ? std::min(1.0, touched.written / stored) * l2.written_back : 0,
                .stored_once = stored > 0 ? std::min(1.0, touched.written / stored) : 0,
                // In equal parts over the launch, since some blocks stand for all.
                .displaced = l2.displaced,
                .write_cost = costs::write_cost_beside(
                    rates_.write_cost, read * (1 - content_.own_share()),
                    grid.written * l2.written_back + l2.displaced * (grid.read + grid.written)),
                .scattered = profile_.scattered_writes,
                .writers = writers_,
                .completed_writes = completed_writes_,
                .completed_reads = profile_.completed_reads,
                .atomics = atomics_ ? &*atomics_ : nullptr,
                .atomic_shares = atomics_ ? atomics_->shares_of(blocks, factor, part) : AtomicShares{},
                .content = content_.empty() ? nullptr : &content_};
    }

    void find_writers_of_lines() {
        if (profile_.sms.empty() || profile_.sms.front().empty() || profile_.footprint.written == 0) return;
        const auto& blocks = profile_.sms.front();
        const TouchedBytes touched = touched_bytes(blocks, rates_.l2_granule);
        if (touched.written_lines == 0) return;
        // The blocks of all SMs stand for the grid, in copies of those that were recorded.
        const double copies = static_cast<double>(profile_.blocks) / static_cast<double>(blocks.size());
        const double of_line = profile_.completed_writes
                                   ? launch::kTouchedLineBytes
                                   : launch::kTouchedSectorBytes * touched.written_sectors / touched.written_lines;
        writers_ = std::max(1.0, touched.written_lines * copies * of_line / profile_.footprint.written);
        completed_writes_ = profile_.completed_writes &&
                            writers_ * touched.stored >= kWhole * launch::kTouchedLineBytes * touched.written_lines;
    }

    SmResult result_of(std::span<const launch::BlockTrace> blocks, double of_sm, double part) {
        SmResult result;
        const auto recorded = static_cast<double>(blocks.size());
        const double sm_blocks = std::max(recorded, of_sm);
        result.recorded = recorded;
        result.factor = sm_blocks / recorded;
        Shares shares = shares_of(blocks, result.factor, part);
        if (sm_blocks > recorded) {
            shares.stands_from = blocks.size() / 2;
            shares.stands_for = (recorded / 2 + sm_blocks) / 2;
        }
        result.cycles = cycles_of(blocks, shares, sm_blocks, result.replayed);
        shares.contention = false;
        Timeline alone;
        result.latency = cycles_of(blocks, shares, sm_blocks, alone);
        to_.replayed_blocks += blocks.size();
        return result;
    }

    /// Replays the recorded blocks of an SM into `all`, and returns the cycles of all of its blocks. Each that was not
    /// recorded takes as long as a recorded one of the second half, and at least as long as it keeps anything busy. The
    /// second half takes from the end of the first half's last wave to that of its own. Half a wave runs with fewer
    /// warps than the SM holds, and does not tell how long its other half takes. Where fewer than two waves were
    /// recorded, the others take as long as the recorded ones in the mean.
    double cycles_of(std::span<const launch::BlockTrace> blocks, const Shares& shares, double sm_blocks,
                     Timeline& all) const {
        const std::size_t half = blocks.size() / 2;
        const auto recorded = static_cast<double>(blocks.size());
        if (sm_blocks <= recorded) {
            all = replay_sm(profile_, rates_, shares, blocks);
            return all.cycles;
        }
        if (half < profile_.resident_blocks) {
            // Where the oldest block comes first, the next wave begins before the last block of this one ends. A wave
            // whose blocks end together keeps the SM as busy.
            SmRates in_turn = rates_;
            in_turn.oldest_block_first = false;
            all = replay_sm(profile_, in_turn, shares, blocks);
            return all.cycles * sm_blocks / recorded;
        }
        auto both = replay_whole_and_first(profile_, rates_, shares, blocks, {}, half);
        all = std::move(both.whole);
        const Timeline& first = both.first;
        double each =
            std::max(0.0, last_wave_ends(all) - last_wave_ends(first)) / (recorded - static_cast<double>(half));
        for (const auto& [name, busy] : all.busy) {
            const auto before = first.busy.find(name);
            const double later = busy - (before == first.busy.end() ? 0 : before->second);
            if (shares.contention) each = std::max(each, later / (recorded - static_cast<double>(half)));
        }
        return all.cycles + each * (sm_blocks - recorded);
    }

    /// When the blocks of the last wave end in the mean, and what they have stored has arrived. The last block alone
    /// may end early or late.
    [[nodiscard]] double last_wave_ends(const Timeline& timeline) const {
        const auto& ends = timeline.ends;
        const std::span last = std::span(ends).last(std::min<std::size_t>(ends.size(), profile_.resident_blocks));
        double sum = 0;
        for (const double end : last) sum += end;
        return sum / static_cast<double>(last.size()) + timeline.cycles - std::ranges::max(last);
    }

    /// A grid of one wave ends with its slowest SM. In a larger grid, blocks go to the SM that is free first. SMs with
    /// equally many blocks then end at about the same time, and the mean over them counts.
    [[nodiscard]] bool in_one_wave() const { return to_.waves <= 1; }

    [[nodiscard]] double combined(const std::function<double(const SmResult&)>& value) const {
        if (!in_one_wave()) return mean(value);
        double most = 0;
        for (const SmResult& result : results_) most = std::max(most, value(result));
        return most;
    }

    [[nodiscard]] double mean(const std::function<double(const SmResult&)>& value) const {
        double sum = 0;
        for (const SmResult& result : results_) sum += value(result);
        return sum / static_cast<double>(results_.size());
    }

    /// Instructions of the mean sampled block over those of the mean recorded one.
    [[nodiscard]] double share_of_recorded() const {
        if (in_one_wave()) return 1;
        double recorded = 0, blocks = 0;
        for (const auto& sm : profile_.sms)
            for (const launch::BlockTrace& trace : sm) {
                for (const auto& warp : trace.warps) recorded += static_cast<double>(warp.size());
                ++blocks;
            }
        return recorded > 0 ? to_.instructions / static_cast<double>(to_.blocks) / (recorded / blocks) : 1;
    }

    void fill_times() {
        const double share = share_of_recorded();
        to_.cycles = share * (combined([](const SmResult& sm) { return sm.cycles; }) + last_wave_);
        to_.latency_cycles = share * (combined([](const SmResult& sm) { return sm.latency; }) + last_wave_latency_);
        end_after_longest();
        to_.achieved_warps = std::min(to_.resident_warps, mean([this](const SmResult& sm) {
                                          const double cycles = sm.cycles + last_wave_;
                                          return cycles > 0 ? sm.replayed.warp_cycles * sm.factor / cycles : 0;
                                      }));
        to_.profiler_cycles = to_.cycles + rates_.profiler_cycles;
        to_.microseconds = to_.cycles / rates_.clock_ghz / 1000;
        BusyCycles names;
        for (const SmResult& result : results_) names.insert(result.replayed.busy.begin(), result.replayed.busy.end());
        for (const auto& [name, unused] : names)
            to_.bounds.push_back({name, share * combined([&name = name](const SmResult& sm) {
                                            const auto found = sm.replayed.busy.find(name);
                                            return found == sm.replayed.busy.end() ? 0 : found->second * sm.factor;
                                        })});
        for (double Utilisation::*unit : {&Utilisation::sm, &Utilisation::l1, &Utilisation::l2, &Utilisation::dram})
            to_.used.*unit = std::min(1.0, share * mean([unit](const SmResult& sm) {
                                               return sm.replayed.used.*unit * sm.factor;
                                           }) / std::max(1.0, to_.cycles));
        std::ranges::stable_sort(to_.bounds, std::ranges::greater(), &LaunchBound::cycles);
        const double bound = to_.bounds.empty() ? 0 : to_.bounds.front().cycles;
        to_.limiter = bound >= to_.latency_cycles && bound > 0 ? to_.bounds.front().resource : "latency";
        to_.needed_warps = ends_with_longest_ ? to_.resident_warps
                           : bound > 0        ? to_.resident_warps * to_.latency_cycles / bound
                                              : 0;
    }

    /// The launch does not end before its longest block.
    void end_after_longest() {
        if (profile_.longest.empty()) return;
        Shares shares = shares_of(profile_.longest, 1, 1);
        const double cycles = replay_sm(profile_, rates_, shares, profile_.longest).cycles;
        if (cycles <= to_.cycles) return;
        shares.contention = false;
        ends_with_longest_ = true;
        to_.cycles = cycles;
        to_.latency_cycles = std::max(to_.latency_cycles, replay_sm(profile_, rates_, shares, profile_.longest).cycles);
        to_.warnings.push_back(
            fmt::format("a few blocks decide how long the launch takes: block {} alone takes {:.0f} cycles{}",
                        profile_.longest.front().block, cycles,
                        to_.sampled_blocks < to_.blocks ? ". One that was not sampled may take longer" : ""));
    }

    [[nodiscard]] double of_grid(double Timeline::*bytes) const {
        double sum = 0, blocks = 0;
        for (const SmResult& result : results_) sum += result.replayed.*bytes, blocks += result.recorded;
        return blocks > 0 ? sum / blocks * static_cast<double>(to_.blocks) : 0;
    }

    void fill_bytes() {
        auto& bytes = to_.bytes;
        bytes.l1 = of_grid(&Timeline::l1_bytes);
        bytes.l1_hit_rate = bytes.l1 > 0 ? of_grid(&Timeline::l1_hit_bytes) / bytes.l1 : 0;
        bytes.l2_read = of_grid(&Timeline::l2_read_bytes);
        bytes.l2_written = of_grid(&Timeline::l2_written_bytes);
        bytes.l2_atomic = of_grid(&Timeline::l2_atomic_bytes);
        bytes.dram_read = of_grid(&Timeline::dram_read_bytes);
        bytes.dram_written = of_grid(&Timeline::dram_written_bytes);
    }

    void fill_instructions() {
        costs::StallRecord stalls;
        double recorded = 0;
        for (const SmResult& result : results_) {
            stalls.add(result.replayed.stalls);
            recorded += result.recorded;
        }
        to_.timeline = results_.front().replayed.blocks;
        const double of_grid = static_cast<double>(to_.blocks) / std::max(1.0, recorded);
        const auto& all = stalls.instructions();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].issued == 0) continue;
            InstructionTime one{.address = profile_.steps[i].address,
                                .text = profile_.steps[i].text,
                                .executed = profile_.executed[i] * static_cast<double>(to_.blocks),
                                .cycles = all[i].cycles};
            for (double& cycles : one.cycles) cycles *= of_grid;
            if (const auto producer = all[i].main_producer(); producer != costs::kNoProducer)
                one.waits_for = profile_.steps[producer].address;
            to_.code.push_back(std::move(one));
        }
    }

    void fill_remarks() {
        to_.assumptions = profile_.assumptions;
        to_.warnings.insert(to_.warnings.begin(), profile_.warnings.begin(), profile_.warnings.end());
        to_.assumptions.insert(to_.assumptions.end(), rates_.assumptions.begin(), rates_.assumptions.end());
        to_.assumptions.emplace_back(
            content_.is_dirty()
                ? "the L2 is full of other data that were written and go to DRAM when they are displaced, and "
                  "no other kernel runs"
            : content_.empty() ? "all caches are empty when the launch begins, and no other kernel runs"
                               : "the L2 holds what the launch before left, and no other kernel runs");
        if (profile_.blocks_of_sms.empty())
            to_.assumptions.emplace_back("block number i starts on SM i modulo the number of SMs");
        for (auto& doubt : doubts_of({profile_, to_, rates_, machine_})) to_.warnings.push_back(std::move(doubt));
        if (static_cast<double>(to_.blocks) < rates_.sms)
            to_.warnings.push_back(
                fmt::format("the grid is too small to fill the GPU: its {} blocks leave {:.0f} of "
                            "{:.0f} SMs without work",
                            to_.blocks, rates_.sms - static_cast<double>(to_.blocks), rates_.sms));
        else if (to_.waves < 1)
            to_.warnings.push_back(
                fmt::format("the grid is too small to fill the GPU: its {} blocks are {:.0f}% of "
                            "those that fit at once",
                            to_.blocks, 100 * to_.waves));
        if (profile_.exchanged > kExchanged)
            to_.warnings.push_back(
                fmt::format("blocks seem to depend on each other: {:.0f}% of the sectors that sampled blocks load lie "
                            "where other blocks write, which is not seen where each block is executed alone. The "
                            "prediction may be far off; use `gputomo simulate`",
                            100 * profile_.exchanged));
        fill_atomic_remarks();
        if (!profile_.stable)
            to_.warnings.push_back(
                fmt::format("the sampled blocks differ: the mean of their {} is known to {:.1f}% only",
                            profile_.error.of, 100 * profile_.error.error));
    }

    void fill_atomic_remarks() {
        double requests = profile_.scattered_atomics, most = 0;
        for (const launch::AtomicSector& sector : profile_.atomic_sectors) {
            requests += sector.requests;
            most = std::max(most, sector.requests);
        }
        if (requests > 0 && !atomics_) {
            to_.assumptions.emplace_back(
                "atomics do not wait for each other: the machine has not all of accesses.l2_atomic.units, .unit_bytes, "
                ".same_address_cycles, .part_cycles and .sector_cycles");
            if (most * kLeastBetweenAtomics > kContended * to_.cycles)
                to_.warnings.push_back(
                    fmt::format("{:.0f} atomics meet in one sector, and how long each takes there is not described: "
                                "the launch may take many times as long. The experiment atomic_contention finds it",
                                most));
        }
        if (profile_.met_swaps > kMetSwaps)
            to_.warnings.push_back(fmt::format(
                "{:.0f}% of the compare-and-swap requests ask for addresses that several warps swap. Where "
                "another warp came first, a thread begins again. That is not seen where blocks are executed "
                "one after the other: the launch may execute more instructions and take several times as "
                "long",
                100 * profile_.met_swaps));
    }

    const launch::LaunchProfile& profile_;
    const machine::Machine& machine_;
    const L2Content& content_;
    SmRates rates_;
    std::optional<AtomicLoad> atomics_;  ///< empty where the description knows no units for atomics
    double writers_ = 1;                 ///< SMs that write into the same line during the launch, in the mean
    bool completed_writes_ = false;      ///< together they write all of it
    std::vector<SmResult> results_;
    double last_wave_ = 0, last_wave_latency_ = 0;  ///< cycles of the blocks that whole_waves() leaves over
    bool ends_with_longest_ = false;                ///< a block takes longer than all others together
    LaunchPrediction to_;
};

}  // namespace

LaunchPrediction predict_launch(const launch::LaunchProfile& profile, const machine::Machine& machine,
                                std::string_view machine_origin, const L2Content& content) {
    return LaunchPredictor(profile, machine, machine_origin, content).predict();
}

}  // namespace gputomo::predict
