#include "launch/profile/resident_profile.hpp"

#include "launch/profile/atomic_sectors.hpp"
#include "launch/profile/grid_footprint.hpp"
#include "launch/profile/parts_of_lines.hpp"
#include "launch/profile/recorder.hpp"
#include "launch/profile/rough_clock.hpp"
#include "launch/profile/saved_memory.hpp"
#include "launch/profile/steps.hpp"
#include "machine/cache_scope.hpp"
#include "sim/machine_code/resident_run.hpp"
#include "sim/machine_code/unknown_values.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

namespace gputomo::launch {
namespace {

using sim::machine_code::Observer;

/// A block that executes this many times the instructions of all recorded ones is worth recording, too.
constexpr double kNotablyMore = 1.05;

class ResidentProfiler final : public sim::machine_code::BlockWatcher {
public:
    ResidentProfiler(const PreparedLaunch& prepared, const machine::Machine& machine, const Sampling& sampling,
                     const LaunchProfile& profile)
        : prepared_(prepared),
          machine_(machine),
          deadline_(Recorder::Clock::now() + sampling.time_limit),
          most_events_(sampling.most_events),
          warps_(profile.warps_of_block()),
          most_traced_(sampling.first_waves * profile.resident_blocks),
          saved_(prepared.memory()) {}

    void trace(const std::set<std::uint64_t>& sms) {
        for (const auto sm : sms) traces_[sm];
    }

    Observer& start_block(std::uint64_t block, std::uint64_t sm) override {
        if (Recorder::Clock::now() > deadline_) throw Interruption{Interruption::Why::time};
        if (free_.empty()) {
            recorders_.push_back(std::make_unique<Recorder>(prepared_.program(), machine_, saved_, warps_, deadline_));
            free_.push_back(recorders_.back().get());
        }
        Recorder* const recorder = free_.back();
        free_.pop_back();
        ++blocks_of_sm_[sm];
        const auto traced = traces_.find(sm);
        const bool traces = traced != traces_.end() && traced->second.size() < most_traced_;
        if (traces) traced->second.emplace_back().block = block;
        recorder->begin(block, traces, most_events_);
        return *recorder;
    }

    void end_block(Observer& observer, std::uint64_t block, std::uint64_t sm) override {
        auto& recorder = static_cast<Recorder&>(observer);
        sampled_.push_back(recorder.counts());
        const bool records = traces_.contains(sm);
        double& most = records ? most_recorded_ : most_elsewhere_;
        if (recorder.counts().instructions > most) {
            most = recorder.counts().instructions;
            if (!records) busiest_elsewhere_ = sm;
        }
        atomics_.add(block, recorder.atomics());
        read_lines_.add(recorder.read(), all_.read);
        all_.read.insert(recorder.read());
        written_lines_.add(recorder.written(), all_.written);
        all_.written.insert(recorder.written());
        if (const auto traced = traces_.find(sm); traced != traces_.end())
            if (const auto place = std::ranges::find(traced->second, block, &BlockTrace::block);
                place != traced->second.end())
                *place = recorder.take_trace();
        free_.push_back(&recorder);
    }

    SavedMemory& saved() { return saved_; }
    /// A certain wait, or one where a block that has ended writes what the warp reads.
    [[nodiscard]] std::optional<sim::machine_code::Wait> wait_of(const sim::machine_code::Executed& executed) const {
        for (const sim::machine_code::Wait& wait : executed.waits)
            if (wait.certain || (!wait.shared && all_.written.contains(wait.address / kTouchedSectorBytes)))
                return wait;
        return {};
    }

    [[nodiscard]] std::optional<std::uint64_t> busier_sm() const {
        return most_elsewhere_ > kNotablyMore * most_recorded_ ? std::optional(busiest_elsewhere_) : std::nullopt;
    }

    void fill(const sim::machine_code::Executed& executed, LaunchProfile& profile) {
        const auto count = static_cast<double>(sampled_.size());
        for (std::size_t i = 0; i < executed.warp_instructions.size(); ++i) {
            profile.executed[i] = static_cast<double>(executed.warp_instructions[i]) / count;
            profile.threads[i] = static_cast<double>(executed.thread_instructions[i]) / count;
            profile.further_values[i] = static_cast<double>(executed.further_values[i]) / count;
        }
        profile.sampled = std::move(sampled_);
        profile.sms.clear();
        profile.blocks_of_sms.clear();
        profile.longest.clear();
        for (auto& [sm, traces] : traces_) {
            if (traces.empty()) continue;
            profile.sms.push_back(std::move(traces));
            profile.blocks_of_sms.push_back(static_cast<double>(blocks_of_sm_[sm]));
        }
        profile.scattered_writes = written_lines_.cost_of_writes();
        profile.completed_writes = written_lines_.are_completed();
        profile.completed_reads = read_lines_.are_completed();
        profile.footprint = exact_footprint(all_, sectors_fetched_together(machine_));
        profile.atomic_sectors.clear();
        atomics_.fill(profile);
        profile.stable = true;
        profile.error = {};
        profile.exchanged = 0;
    }

private:
    const PreparedLaunch& prepared_;
    const machine::Machine& machine_;
    Recorder::Clock::time_point deadline_;
    std::size_t most_events_;
    std::uint64_t warps_;
    std::size_t most_traced_;
    SavedMemory saved_;
    std::vector<std::unique_ptr<Recorder>> recorders_;
    std::vector<Recorder*> free_;
    std::map<std::uint64_t, std::vector<BlockTrace>> traces_;  ///< by SM, in the order in which blocks started
    std::map<std::uint64_t, std::uint64_t> blocks_of_sm_;
    std::vector<BlockCounts> sampled_;
    double most_recorded_ = 0, most_elsewhere_ = 0;  ///< instructions of a block, on recorded SMs and on others
    std::uint64_t busiest_elsewhere_ = 0;            ///< SM
    BlockSectors all_;
    PartsOfLines read_lines_{costs::scattered_spec_of(machine_)}, written_lines_ = read_lines_;
    AtomicSectors atomics_;
};

}  // namespace

ResidentOutcome profile_resident(const PreparedLaunch& prepared, const machine::Machine& machine,
                                 const Sampling& sampling, const std::set<std::uint64_t>& traced, bool skips_products,
                                 LaunchProfile& profile) {
    ResidentProfiler profiler(prepared, machine, sampling, profile);
    profiler.trace(traced);
    auto launch = prepared.launch_on(machine);
    const double most = std::min(sampling.most_instructions, static_cast<double>(sampling.most_events));
    launch.instruction_limit = static_cast<std::uint64_t>(most);
    sim::machine_code::UnknownMemory unknown;
    if (skips_products) launch.unknown = &unknown;
    const sim::machine_code::BlockOrder order{
        .sms = static_cast<std::uint64_t>(machine.topology.sms.value_or(1)),
        .blocks_of_sm = profile.resident_blocks,
        .cycles = rough_cycles(prepared.program(), machine),
        .replacement = static_cast<double>(machine.launch.block_replacement.value_or(0))};
    sim::machine_code::Executed executed;
    const auto restore = [&] { profiler.saved().restore(); };
    try {
        sim::machine_code::run_resident({prepared.program(), launch, prepared.memory()}, order, profiler, executed);
        restore();
        ResidentOutcome outcome{.complete = true,
                                .instructions = static_cast<double>(executed.total),
                                .busier_sm = profiler.busier_sm(),
                                .wait = profiler.wait_of(executed)};
        profiler.fill(executed, profile);
        return outcome;
    } catch (const TimeLimitError&) {
        restore();
        return {.complete = false, .instructions = most, .wait = profiler.wait_of(executed)};
    } catch (const Interruption&) {
        restore();
        throw TimeLimitError(
            fmt::format("kernel '{}': its blocks depend on each other, and executing them together "
                        "took more than {} ms; give a larger --time-limit",
                        profile.kernel, sampling.time_limit.count()));
    } catch (...) {
        restore();
        throw;
    }
}

}  // namespace gputomo::launch
