#include "launch/profile/profile.hpp"

#include "launch/profile/atomic_sectors.hpp"
#include "launch/profile/exchange.hpp"
#include "launch/profile/grid_footprint.hpp"
#include "launch/profile/recorder.hpp"
#include "launch/profile/steps.hpp"
#include "sim/sm/residency.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <utility>

namespace gputomo::launch {
namespace {

/// SMs whose blocks are replayed.
constexpr std::size_t kReplayedSms = 3;
/// Waves of blocks of an SM that are replayed. The second half of them tells how long further blocks take.
constexpr std::uint64_t kReplayedWaves = 4;
/// Fewer blocks do not tell how much blocks differ.
constexpr std::size_t kLeastBlocks = 8;
/// Executed warp instructions up to which further blocks are executed although the means are stable, because a few long
/// blocks may decide when the launch ends. They take about a second. All blocks of a launch that is estimated to have
/// fewer instructions, and at most as many blocks, are executed.
constexpr double kThorough = 4e6;
constexpr std::uint64_t kMostBlocks = 1 << 14;
/// Share of loaded sectors that other blocks write above which blocks that differ are refused. A grid that updates one
/// array has less, unless its blocks read all over it.
constexpr double kDependent = 0.5;
/// A block that executes as many times the instructions of those that were recorded is recorded too.
constexpr double kLonger = 1.5;

class Profiler {
public:
    Profiler(const PreparedLaunch& prepared, const machine::Machine& machine, const Sampling& sampling)
        : prepared_(prepared),
          launch_(prepared.launch()),
          machine_(machine),
          sampling_(sampling),
          sms_(static_cast<std::uint64_t>(machine.topology.sms.value_or(1))),
          deadline_(Recorder::Clock::now() + sampling.time_limit),
          recorder_(prepared.program(), machine, prepared.memory(), (launch_.block.count() + kWarpSize - 1) / kWarpSize,
                    deadline_),
          random_(sampling.seed),
          exchange_(prepared.buffers()) {}

    LaunchProfile run() {
        fill_launch();
        trace_sms();
        sample();
        record_longest();
        find_footprint();
        fill_means();
        refuse_dependent_blocks();
        add_steps(prepared_.program(), machine_, profile_);
        profile_.assumptions.emplace_back(
            "each sampled block starts with the memory as it is before the launch: what other blocks of the launch "
            "write is not seen");
        return std::move(profile_);
    }

private:
    void fill_launch() {
        const auto& program = prepared_.program();
        profile_.kernel = program.kernel;
        profile_.blocks = launch_.grid.count();
        profile_.threads_of_block = launch_.block.count();
        profile_.registers = program.registers;
        profile_.executed.resize(program.steps.size());
        profile_.threads.resize(program.steps.size());
        const auto needs = [&](std::uint64_t threads, std::uint64_t shared, int registers) {
            return sim::resident_blocks(machine_, {.threads = threads,
                                                   .shared_bytes = shared,
                                                   .registers_per_thread = registers,
                                                   .arguments = program.parameters.size()});
        };
        const std::uint64_t shared = program.shared_bytes - program.system_shared_bytes + launch_.dynamic_shared;
        const auto residency = needs(profile_.threads_of_block, shared, program.registers);
        if (!residency.why.empty())
            throw InputError(fmt::format("kernel '{}': no block fits an SM of {}: {}", program.kernel,
                                         machine_.identity.name.value_or("the GPU"), residency.why));
        if (program.max_threads > 0 && profile_.threads_of_block > static_cast<std::uint64_t>(program.max_threads))
            throw InputError(fmt::format("kernel '{}': a block of {} threads; it was compiled for {} at most",
                                         program.kernel, profile_.threads_of_block, program.max_threads));
        profile_.resident_blocks = residency.blocks;
        profile_.shared_of_block = residency.shared_of_block;
        // Whatever allows more blocks when it is not asked for is the limit.
        const auto freed = [&](std::uint64_t bytes, int registers) {
            return needs(profile_.threads_of_block, bytes, registers).blocks > residency.blocks;
        };
        profile_.residency_limit = freed(0, program.registers) ? "shared memory"
                                   : freed(shared, 0)          ? "registers"
                                                               : "threads and blocks of an SM";
        if (machine_.topology.max_threads_per_sm &&
            (residency.blocks + 1) * profile_.warps_of_block() * kWarpSize <=
                static_cast<std::uint64_t>(*machine_.topology.max_threads_per_sm) &&
            profile_.residency_limit == "threads and blocks of an SM")
            profile_.residency_limit = "blocks of an SM";
        else if (profile_.residency_limit == "threads and blocks of an SM")
            profile_.residency_limit = "threads of an SM";
    }

    /// Executes a block. Returns false where time or space ran out; what the block did until then is dropped.
    bool execute(std::uint64_t block, bool trace) {
        auto launch = launch_;
        launch.blocks = {block};
        launch.observer = &recorder_;
        const std::size_t most =
            trace ? sampling_.most_events - std::min(events_, sampling_.most_events) : sampling_.most_events;
        recorder_.begin(block, trace, most);
        sim::machine_code::Executed executed;
        try {
            executed = sim::machine_code::run(prepared_.program(), launch, prepared_.memory());
        } catch (const Interruption& interruption) {
            recorder_.restore();
            stopped_ = interruption.why();
            return false;
        } catch (...) {
            recorder_.restore();
            throw;
        }
        recorder_.restore();
        if (!known_.insert(block).second) return true;
        for (std::size_t i = 0; i < executed.warp_instructions.size(); ++i) {
            profile_.executed[i] += static_cast<double>(executed.warp_instructions[i]);
            profile_.threads[i] += static_cast<double>(executed.thread_instructions[i]);
        }
        profile_.sampled.push_back(recorder_.counts());
        executed_ += recorder_.counts().instructions;
        exchange_.add(recorder_.loaded(), recorder_.written());
        atomics_.add(block, recorder_.atomics());
        all_.read.insert(recorder_.read().begin(), recorder_.read().end());
        all_.written.insert(recorder_.written().begin(), recorder_.written().end());
        return true;
    }

    /// The first, a middle and the last SM that have blocks.
    [[nodiscard]] std::set<std::uint64_t> chosen_sms() const {
        const std::uint64_t last = std::min(sms_, profile_.blocks) - 1;
        return {0, last / 2, last};
    }

    void trace_sms() {
        const auto chosen = chosen_sms();
        for (const auto sm : chosen) {
            if (!profile_.sms.empty() && events_ > sampling_.most_events / kReplayedSms * profile_.sms.size()) break;
            auto& traced = profile_.sms.emplace_back();
            for (std::uint64_t block = sm; block < profile_.blocks; block += sms_) {
                if (traced.size() == kReplayedWaves * profile_.resident_blocks) break;
                if (!traced.empty() && events_ > sampling_.most_events / kReplayedSms * profile_.sms.size()) break;
                if (!execute(block, true)) break;
                events_ += static_cast<std::size_t>(recorder_.counts().instructions);
                traced.push_back(recorder_.take_trace());
            }
            if (traced.empty()) profile_.sms.pop_back();
            if (stopped_) break;
        }
        if (profile_.sms.empty()) refuse();
        note_missing();
    }

    void note_missing() {
        const auto& first = profile_.sms.front();
        const std::uint64_t blocks = (profile_.blocks - first.front().block + sms_ - 1) / sms_;
        if (first.size() < std::min<std::uint64_t>(profile_.resident_blocks, blocks))
            profile_.assumptions.push_back(
                fmt::format("only {} of the {} blocks that an SM holds at once were replayed together, because of "
                            "their length or the time limit",
                            first.size(), std::min<std::uint64_t>(profile_.resident_blocks, blocks)));
    }

    /// What a block executes depends on when it sees what others write.
    void refuse_dependent_blocks() const {
        if (profile_.stable || profile_.exchanged < kDependent) return;
        throw InputError(
            fmt::format("kernel '{}': its blocks cannot be executed one by one: {:.0f}% of the sectors that they load "
                        "lie where other blocks write, and some execute far more than others. Use `gputomo simulate`",
                        profile_.kernel, 100 * profile_.exchanged));
    }

    [[noreturn]] void refuse() const {
        if (stopped_ == Interruption::Why::instructions)
            throw InputError(
                fmt::format("kernel '{}': block 0 executes more than {} warp instructions, or never ends; "
                            "expected fewer. Use `gputomo simulate`, or a smaller problem",
                            profile_.kernel, sampling_.most_events));
        throw TimeLimitError(fmt::format("kernel '{}': block 0 did not end within {} ms; give a larger --time-limit",
                                         profile_.kernel, sampling_.time_limit.count()));
    }

    void sample() {
        const std::uint64_t middle = profile_.blocks / 2;
        for (const auto block : {std::uint64_t{0}, middle, profile_.blocks - 1})
            if (!stopped_ && !known_.contains(block)) (void)execute(block, false);
        const std::size_t most = known_.size() + sampling_.most_blocks;
        while (!stopped_ && known_.size() < profile_.blocks && known_.size() < most &&
               executed_ < sampling_.most_instructions && !is_stable()) {
            const std::uint64_t block = random_() % profile_.blocks;
            if (!known_.contains(block)) (void)execute(block, false);
        }
        if (is_stable()) sample_for_long_blocks();
        profile_.error = error();
        profile_.stable = known_.size() == profile_.blocks || profile_.error <= sampling_.wanted_error;
        if (stopped_ == Interruption::Why::time)
            profile_.warnings.push_back(
                fmt::format("the time limit of {} ms ended the sampling after {} of {} blocks: whether blocks depend "
                            "on each other, "
                            "and whether some are far longer, was not seen. Give a larger --time-limit",
                            sampling_.time_limit.count(), known_.size(), profile_.blocks));
    }

    void sample_for_long_blocks() {
        const bool whole =
            profile_.blocks <= kMostBlocks && mean_instructions() * static_cast<double>(profile_.blocks) <= kThorough;
        const std::uint64_t count = whole ? profile_.blocks : sampling_.most_blocks;
        for (std::uint64_t i = 0; i < count && !stopped_ && executed_ < kThorough; ++i)
            if (const auto block = whole ? i : random_() % profile_.blocks; !known_.contains(block))
                (void)execute(block, false);
    }

    [[nodiscard]] double mean_instructions() const {
        double sum = 0;
        for (const BlockCounts& block : profile_.sampled) sum += block.instructions;
        return sum / static_cast<double>(profile_.sampled.size());
    }

    /// The block that executes most, unless a recorded one is about as long.
    void record_longest() {
        std::set<std::uint64_t> recorded;
        for (const auto& sm : profile_.sms)
            for (const BlockTrace& trace : sm) recorded.insert(trace.block);
        double most_recorded = 0;
        const BlockCounts* longest = nullptr;
        for (const BlockCounts& block : profile_.sampled) {
            if (recorded.contains(block.block)) most_recorded = std::max(most_recorded, block.instructions);
            if (longest == nullptr || block.instructions > longest->instructions) longest = &block;
        }
        if (longest == nullptr || longest->instructions <= kLonger * most_recorded) return;
        const auto before = stopped_;
        if (execute(longest->block, true)) profile_.longest.push_back(recorder_.take_trace());
        stopped_ = before;
    }

    [[nodiscard]] bool is_stable() const {
        return profile_.sampled.size() >= kLeastBlocks && error() <= sampling_.wanted_error;
    }

    /// Largest relative standard error of the means.
    [[nodiscard]] double error() const {
        const std::size_t count = profile_.sampled.size();
        if (count == profile_.blocks) return 0;
        if (count < 2) return 1;
        double most = 0;
        for (const auto field : {&BlockCounts::instructions, &BlockCounts::transactions, &BlockCounts::load_sectors,
                                 &BlockCounts::store_sectors, &BlockCounts::bank_cycles}) {
            double sum = 0, squares = 0;
            for (const BlockCounts& block : profile_.sampled) sum += block.*field;
            const double mean = sum / static_cast<double>(count);
            if (mean == 0) continue;
            for (const BlockCounts& block : profile_.sampled) squares += (block.*field - mean) * (block.*field - mean);
            most =
                std::max(most, std::sqrt(squares / static_cast<double>(count - 1) / static_cast<double>(count)) / mean);
        }
        return most;
    }

    void find_footprint() {
        if (known_.size() == profile_.blocks) {
            profile_.footprint = exact_footprint(all_);
            return;
        }
        const auto& grid = launch_.grid;
        profile_.footprint = footprint_of_grid(
            {grid.x, grid.y, grid.z}, prepared_.buffers(),
            [&](std::uint64_t block, BlockSectors& into) {
                if (stopped_ || !execute(block, false)) return false;
                into = {recorder_.read(), recorder_.written()};
                return true;
            },
            random_);
        const auto seen = exact_footprint(all_);
        profile_.footprint.read = std::max(profile_.footprint.read, seen.read);
        profile_.footprint.written = std::max(profile_.footprint.written, seen.written);
    }

    void fill_means() {
        const auto count = static_cast<double>(profile_.sampled.size());
        for (auto& each : profile_.executed) each /= count;
        for (auto& each : profile_.threads) each /= count;
        profile_.exchanged = exchange_.share();
        atomics_.fill(profile_);
        if (const auto stores = machine_.accesses.find("l2_store"); stores != machine_.accesses.end())
            profile_.partial_store = stores->second.partial_cost.value_or(1);
    }

    const PreparedLaunch& prepared_;
    sim::machine_code::FunctionalLaunch launch_;
    const machine::Machine& machine_;
    Sampling sampling_;
    std::uint64_t sms_;
    Recorder::Clock::time_point deadline_;
    Recorder recorder_;
    std::mt19937_64 random_;
    BlockSectors all_;  ///< of all executed blocks
    Exchange exchange_;
    AtomicSectors atomics_;
    LaunchProfile profile_;
    std::set<std::uint64_t> known_;
    std::size_t events_ = 0;
    double executed_ = 0;  ///< warp instructions of the sampled blocks
    std::optional<Interruption::Why> stopped_;
};

}  // namespace

LaunchProfile profile_launch(const PreparedLaunch& launch, const machine::Machine& machine, const Sampling& sampling) {
    return Profiler(launch, machine, sampling).run();
}

}  // namespace gputomo::launch
