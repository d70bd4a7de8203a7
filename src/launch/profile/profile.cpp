#include "launch/profile/profile.hpp"

#include "launch/profile/atomic_sectors.hpp"
#include "launch/profile/dependence.hpp"
#include "launch/profile/empty_blocks.hpp"
#include "launch/profile/exchange.hpp"
#include "launch/profile/grid_footprint.hpp"
#include "launch/profile/parts_of_lines.hpp"
#include "launch/profile/recorder.hpp"
#include "launch/profile/resident_profile.hpp"
#include "launch/profile/sampled_blocks.hpp"
#include "launch/profile/saved_memory.hpp"
#include "launch/profile/sharers.hpp"
#include "launch/profile/steps.hpp"
#include "launch/profile/watched_run.hpp"
#include "machine/cache_scope.hpp"
#include "sim/machine_code/unknown_values.hpp"
#include "sim/sm/engine/residency.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace gputomo::launch {
namespace {

/// Share of the loaded sectors that lie where other blocks write, from which on a launch whose blocks were executed
/// together may do something else in another order. Queues of work and sums that are handed on have a few percent.
constexpr double kReadMeanwhile = 0.1;

/// Fewer blocks do not tell how much blocks differ.
constexpr std::size_t kLeastBlocks = 8;
/// Grids of more blocks are never executed whole.
constexpr std::uint64_t kMostBlocks = 1 << 14;
/// Relative change of a block's instructions or accesses, once other blocks have run before it, from which on its work
/// depends on them. A smaller one is within what is known of the mean anyway.
constexpr double kOtherWork = 0.01;
/// Share of the instructions of a sampling that one block may execute again to compare bytes. A larger one leaves none
/// for others.
constexpr double kWatched = 0.125;
/// Reads in a row of the same value after which a block that is executed alone may wait for another one, so that all
/// are executed together. A smaller number does that more often, and a larger one takes longer.
constexpr std::uint32_t kPollsAlone = 4096;
/// Blocks whose work is compared.
constexpr std::size_t kComparedBlocks = 4;

constexpr std::string_view kAlone =
    "each sampled block starts with the memory as it is before the launch: no block was seen to read what another one "
    "writes";

class Profiler {
public:
    /// `products` says whether products of matrices are computed.
    Profiler(const PreparedLaunch& prepared, const machine::Machine& machine, const Sampling& sampling, bool products)
        : prepared_(prepared),
          launch_(prepared.launch_on(machine)),
          machine_(machine),
          sampling_(sampling),
          sms_(static_cast<std::uint64_t>(machine.topology.sms.value_or(1))),
          deadline_(Recorder::Clock::now() + sampling.time_limit),
          saved_(prepared.memory()),
          recorder_(prepared.program(), machine, saved_, (launch_.block.count() + kWarpSize - 1) / kWarpSize,
                    deadline_),
          random_(sampling.seed),
          exchange_(prepared.buffers()),
          left_to_watch_(static_cast<std::size_t>(sampling.most_instructions)) {
        if (!products) launch_.unknown = &unknown_;
    }

    LaunchProfile run() {
        fill_launch();
        if (prepared_.has_clusters()) hand_over("the blocks of a cluster reach each other's shared memory");
        if (prepared_.program().uses_grid_barrier)
            hand_over("the blocks of a cooperative launch meet at barriers of the whole grid");
        execute_alone();
        follow_dependences();
        if (!together_) note_missing_blocks(profile_, sms_);
        add_steps(prepared_.program(), machine_, profile_);
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
        profile_.further_values.resize(program.steps.size());
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
        profile_.room = residency.room;
        profile_.shared_of_block = residency.shared_of_block;
        // Whatever allows more blocks when it is not asked for is the limit.
        const auto freed = [&](std::uint64_t bytes, int registers) {
            return needs(profile_.threads_of_block, bytes, registers).blocks > residency.blocks;
        };
        profile_.residency_limit = freed(0, program.registers) ? "shared memory"
                                   : freed(shared, 0)          ? "registers"
                                   : freed(0, 0)               ? "registers and shared memory"
                                                               : "threads and blocks of an SM";
        if (machine_.topology.max_threads_per_sm &&
            (residency.blocks + 1) * profile_.warps_of_block() * kWarpSize <=
                static_cast<std::uint64_t>(*machine_.topology.max_threads_per_sm) &&
            profile_.residency_limit == "threads and blocks of an SM")
            profile_.residency_limit = "blocks of an SM";
        else if (profile_.residency_limit == "threads and blocks of an SM")
            profile_.residency_limit = "threads of an SM";
    }

    /// Each block with the memory as it is before the launch.
    void execute_alone() {
        if (returns_counters(prepared_.program()) && depends_at_once()) return;
        place_blocks();
        trace_sms();
        if (profile_.sms.empty()) {
            if (!waits_forever_) refuse();
            return;
        }
        if (recorder_.gave_up())
            profile_.warnings.emplace_back(
                "warps asked for a phase of a barrier in shared memory several times and went on before it ended. How "
                "long they ask is not predicted: the launch may take far longer");
        find_sharers(0);
        sample();
        record_longest();
        record_busiest();
        if (sampling_.is_quick)
            profile_.assumptions.emplace_back(
                fmt::format("the prediction is a quick one: {} of {} blocks were executed, and {} of one SM replayed. "
                            "Blocks that do more than these are not known of",
                            known_.size(), profile_.blocks, profile_.sms.front().size()));
        find_footprint();
        fill_means();
    }

    /// Whether two blocks show that all have to be executed together. Each block alone may do the work of all others,
    /// so that sampling more of them would take long.
    bool depends_at_once() {
        if (profile_.blocks == 1 || !execute(0, false) || !execute(1, false)) return false;
        found_ = find();
        return found_ &&
               (estimated_instructions() <= sampling_.most_instructions || changes_work(shared_.shared(), *found_));
    }

    std::optional<Dependence> find() {
        return find_dependence(prepared_.program(), shared_.shared(),
                               [this](auto block, auto& observer) { return watch(block, observer); });
    }

    void restore_memory() {
        saved_.restore();
        unknown_.clear();
    }

    /// Executes a block. Returns false where time or space ran out, or it waits forever; what the block did until then
    /// is dropped.
    bool execute(std::uint64_t block, bool trace, bool keeps_memory = false) {
        auto launch = launch_;
        launch.blocks = {block};
        launch.observer = &recorder_;
        launch.watches_waits = true;
        launch.most_polls = most_polls_;
        const std::size_t most =
            trace ? sampling_.most_events - std::min(events_, sampling_.most_events) : sampling_.most_events;
        recorder_.begin(block, trace, most);
        sim::machine_code::Executed executed;
        try {
            executed = sim::machine_code::run(prepared_.program(), launch, prepared_.memory());
        } catch (const Interruption& interruption) {
            restore_memory();
            stopped_ = interruption.why();
            return false;
        } catch (const sim::machine_code::WaitsForever& waits) {
            restore_memory();
            if (!waits.wait().certain && profile_.blocks == 1) {
                // It reads one address for another reason.
                most_polls_ = 0;
                return execute(block, trace, keeps_memory);
            }
            waits_forever_ = waits.wait();
            stopped_ = Interruption::Why::waits;
            return false;
        } catch (...) {
            restore_memory();
            throw;
        }
        if (!keeps_memory) restore_memory();
        // Waits for phases of barriers in shared memory are replayed.
        std::erase_if(executed.waits, [this](const sim::machine_code::Wait& wait) {
            return sim::machine_code::checks_phase(prepared_.program().steps[wait.step]);
        });
        sim::machine_code::add_waits(waits_, executed.waits);
        if (!known_.insert(block).second) return true;
        for (std::size_t i = 0; i < executed.warp_instructions.size(); ++i) {
            profile_.executed[i] += static_cast<double>(executed.warp_instructions[i]);
            profile_.threads[i] += static_cast<double>(executed.thread_instructions[i]);
            profile_.further_values[i] += static_cast<double>(executed.further_values[i]);
        }
        profile_.sampled.push_back(recorder_.counts());
        executed_ += recorder_.counts().instructions;
        exchange_.add(recorder_.loaded(), recorder_.written());
        atomics_.add(block, recorder_.atomics());
        const std::array read{&recorder_.loaded(), &recorder_.observed()};
        shared_.add(block, read, recorder_.written());
        read_lines_.add(recorder_.read(), all_.read);
        all_.read.insert(recorder_.read());
        written_lines_.add(recorder_.written(), all_.written);
        all_.written.insert(recorder_.written());
        return true;
    }

    /// Finds which SM runs which blocks, where some blocks end at once and leave their places to others.
    void place_blocks() {
        if (profile_.blocks <= sms_) return;
        const auto most = static_cast<double>(kMostOfEmptyWarp * profile_.warps_of_block());
        if (most * static_cast<double>(profile_.blocks) > sampling_.thorough) return;
        const auto empty = empty_blocks_of(prepared_, launch_, saved_, sampling_.seed);
        if (!empty) return;
        placed_ = blocks_by_sm(*empty, sms_, profile_.resident_blocks);
        profile_.empty_blocks = static_cast<std::uint64_t>(std::ranges::count(*empty, true));
        profile_.assumptions.emplace_back(fmt::format(
            "{} blocks end at once, and the others start in their places, SM by SM", profile_.empty_blocks));
    }

    /// The blocks that an SM runs, in order. Those that end at once are left out where some do.
    [[nodiscard]] std::vector<std::uint64_t> blocks_of(std::uint64_t sm) const {
        if (!placed_.empty()) return placed_[sm];
        std::vector<std::uint64_t> blocks;
        for (std::uint64_t block = sm; block < profile_.blocks; block += sms_) blocks.push_back(block);
        return blocks;
    }

    /// The first, a middle and the last SM that have blocks; where some blocks end at once, of those with most of the
    /// others.
    [[nodiscard]] std::set<std::uint64_t> chosen_sms() const {
        if (!placed_.empty()) {
            std::vector<std::uint64_t> busiest;
            std::size_t most = 0;
            for (const auto& blocks : placed_) most = std::max(most, blocks.size());
            for (std::uint64_t sm = 0; sm < placed_.size(); ++sm)
                if (placed_[sm].size() == most) busiest.push_back(sm);
            const std::uint64_t middle = busiest[busiest.size() / 2];
            if (sampling_.replayed_sms == 1) return {middle};
            return {busiest.front(), middle, busiest.back()};
        }
        const std::uint64_t last = std::min(sms_, profile_.blocks) - 1;
        if (sampling_.replayed_sms == 1) return {last / 2};
        return {0, last / 2, last};
    }

    /// Recorded warp instructions of an SM after which no wave begins that follows `blocks` recorded blocks.
    [[nodiscard]] std::size_t most_before(std::size_t blocks) const {
        return blocks < sampling_.first_waves * profile_.resident_blocks
                   ? sampling_.most_of_sm
                   : std::min(sampling_.most_of_sm, sampling_.most_of_later_waves);
    }

    void trace_sms() {
        const auto chosen = chosen_sms();
        for (const auto sm : chosen) {
            if (!profile_.sms.empty() && events_ > sampling_.most_events / sampling_.replayed_sms * profile_.sms.size())
                break;
            auto& traced = profile_.sms.emplace_back();
            const std::size_t before = events_;
            const auto blocks = blocks_of(sm);
            for (const std::uint64_t block : blocks) {
                if (traced.size() == sampling_.replayed_waves * profile_.resident_blocks) break;
                if (traced.size() % profile_.resident_blocks == 0 && events_ - before > most_before(traced.size()))
                    break;
                if (!traced.empty() && events_ > sampling_.most_events / sampling_.replayed_sms * profile_.sms.size())
                    break;
                if (!execute(block, true)) break;
                events_ += static_cast<std::size_t>(recorder_.counts().instructions);
                traced.push_back(recorder_.take_trace());
            }
            if (traced.empty())
                profile_.sms.pop_back();
            else if (!placed_.empty())
                profile_.blocks_of_sms.push_back(static_cast<double>(blocks.size()));
            if (stopped_) break;
        }
        // What was recorded leaves no room for another block; a block without a record has all of it.
        if (stopped_ == Interruption::Why::instructions && !profile_.sms.empty()) stopped_.reset();
    }

    /// Blocks that run on the same GPC as those of the recorded SMs, from this one on, are executed before others.
    void find_sharers(std::size_t first_sm) {
        const auto* const cache = machine::shared_cache(machine_, "global");
        if (cache == nullptr || cache->merged_requests.value_or(1) <= 1) return;
        const double most = executed_ + sampling_.thorough / 2;
        constexpr std::size_t kLonger = 2;  // other blocks may have as many times the events
        BlockTrace other;
        for (auto& of_sm : std::span(profile_.sms).subspan(first_sm))
            add_sharers(of_sm, blocks_of_gpc(machine_, profile_.blocks, of_sm.front().block),
                        [&](std::uint64_t block) -> const BlockTrace* {
                            if (stopped_ || executed_ > most ||
                                events_ + kLonger * of_sm.front().events() > sampling_.most_events ||
                                !execute(block, true))
                                return nullptr;
                            other = recorder_.take_trace();
                            return &other;
                        });
    }

    [[noreturn]] void refuse() const {
        if (stopped_ == Interruption::Why::instructions)
            throw InputError(
                fmt::format("kernel '{}': block {} executes more than {} warp instructions, or never ends; "
                            "expected fewer. Use `gputomo simulate`, or a smaller problem",
                            profile_.kernel, recorder_.counts().block, sampling_.most_events));
        throw TimeLimitError(
            fmt::format("kernel '{}': block 0 did not end within {} ms; give a larger --time-limit. "
                        "Where its warps wait for each other forever, `gputomo simulate` says at "
                        "which instructions",
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
        if (stopped_ == Interruption::Why::instructions) refuse();
        profile_.error = error_of(profile_);
        profile_.stable = known_.size() == profile_.blocks || profile_.error.error <= sampling_.wanted_error;
        if (stopped_ == Interruption::Why::time)
            profile_.warnings.push_back(
                fmt::format("the time limit of {} ms ended the sampling after {} of {} blocks: whether blocks depend "
                            "on each other, "
                            "and whether some are far longer, was not seen. Give a larger --time-limit",
                            sampling_.time_limit.count(), known_.size(), profile_.blocks));
    }

    void sample_for_long_blocks() {
        const bool whole = profile_.blocks <= kMostBlocks &&
                           mean_instructions(profile_) * static_cast<double>(profile_.blocks) <= sampling_.thorough;
        const std::uint64_t count = whole ? profile_.blocks : sampling_.most_blocks;
        for (std::uint64_t i = 0; i < count && !stopped_ && executed_ < sampling_.thorough; ++i)
            if (const auto block = whole ? i : random_() % profile_.blocks; !known_.contains(block))
                (void)execute(block, false);
    }

    /// The SM that executes most, unless a recorded one does about as much, or one long block decides.
    void record_busiest() {
        const bool may_be = placed_.empty() && profile_.longest.empty();
        const auto sm = may_be ? much_busier_sm(profile_, sms_) : std::nullopt;
        if (!sm) return;
        const auto before = stopped_;
        std::vector<BlockTrace> traced;
        for (const std::uint64_t block : blocks_of(*sm)) {
            if (!execute(block, true)) {  // a part of its blocks says nothing of their time
                stopped_ = before;
                return;
            }
            traced.push_back(recorder_.take_trace());
        }
        profile_.sms.push_back(std::move(traced));
        find_sharers(profile_.sms.size() - 1);
    }

    /// The block that executes most, unless a recorded one is about as long.
    void record_longest() {
        const BlockCounts* const longest = much_longer_block(profile_);
        if (longest == nullptr) return;
        const auto before = stopped_;
        if (execute(longest->block, true)) profile_.longest.push_back(recorder_.take_trace());
        stopped_ = before;
    }

    [[nodiscard]] bool is_stable() const {
        return profile_.sampled.size() >= kLeastBlocks && error_of(profile_).error <= sampling_.wanted_error;
    }

    void find_footprint() {
        const std::uint64_t together = sectors_fetched_together(machine_);
        if (known_.size() == profile_.blocks) {
            profile_.footprint = exact_footprint(all_, together);
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
            random_, together);
        const auto seen = exact_footprint(all_, together);
        profile_.footprint.read = std::max(profile_.footprint.read, seen.read);
        profile_.footprint.written = std::max(profile_.footprint.written, seen.written);
        profile_.footprint.fetched = std::max(profile_.footprint.fetched, seen.fetched);
    }

    void fill_means() {
        const auto count = static_cast<double>(profile_.sampled.size());
        for (auto& each : profile_.executed) each /= count;
        for (auto& each : profile_.threads) each /= count;
        for (auto& each : profile_.further_values) each /= count;
        profile_.exchanged = exchange_.share();
        atomics_.fill(profile_);
        profile_.constant_bytes = static_cast<double>(recorder_.constants().size() * kConstantGranule);
        profile_.scattered_writes = written_lines_.cost_of_writes();
        profile_.completed_writes = written_lines_.are_completed();
        profile_.completed_reads = read_lines_.are_completed();
        if (const auto stores = machine_.accesses.find("l2_store"); stores != machine_.accesses.end())
            profile_.partial_store = stores->second.partial_cost.value_or(1);
    }

    // ---- blocks that depend on each other

    void follow_dependences() {
        if (waits_forever_) {
            if (profile_.blocks == 1)
                throw InputError(fmt::format("kernel '{}': its only block never ends: {}, and nothing changes it",
                                             profile_.kernel, text_of(*waits_forever_)));
            return execute_together(fmt::format("{}, which only another block can change", text_of(*waits_forever_)));
        }
        const auto* const waited = sim::machine_code::most_certain(waits_);
        if (waited != nullptr && waited->certain)
            hand_over(fmt::format("warps of a block wait for each other: {}", text_of(*waited)));
        if (!found_) found_ = find();
        if (!found_) {
            profile_.assumptions.emplace_back(kAlone);
            if (!watched_whole_)
                profile_.warnings.emplace_back(
                    "blocks are too long to find out whether one reads bytes that another one writes; they use the "
                    "same sectors. If they depend on each other, the prediction may be far off");
            else if (known_.size() == profile_.blocks)
                profile_.exchanged = 0;
            return;
        }
        const std::string why = launch::text_of(prepared_.program(), *found_);
        if (estimated_instructions() > sampling_.most_instructions && !changes_work(shared_.shared(), *found_))
            return note_same_work(why);
        execute_together(why);
    }

    [[nodiscard]] std::string text_of(const sim::machine_code::Wait& wait) const {
        return sim::machine_code::text_of(prepared_.program(), wait);
    }

    [[nodiscard]] double estimated_instructions() const {
        return mean_instructions(profile_) * static_cast<double>(profile_.blocks);
    }

    /// Executes a block for another observer than the recorder.
    bool watch(std::uint64_t block, sim::machine_code::Observer& observer) {
        const std::size_t most =
            std::min(left_to_watch_, static_cast<std::size_t>(kWatched * sampling_.most_instructions));
        std::size_t left = most;
        bool complete = false;
        try {
            complete = run_watched(prepared_, launch_, block, observer, saved_, left);
        } catch (const sim::machine_code::WaitsForever&) {
            // Others have to run for it to end.
        }
        left_to_watch_ -= most - left;
        watched_whole_ = watched_whole_ && complete;
        return complete;
    }

    /// Whether blocks execute something else once blocks have run that write what they read.
    [[nodiscard]] bool changes_work(const std::vector<SharedSector>& sectors, const Dependence& found) {
        std::vector<SharedSector> compared{{0, found.reader, found.writer}};
        const std::size_t step = std::max<std::size_t>(1, sectors.size() / kComparedBlocks);
        for (std::size_t i = 0; i < sectors.size(); i += step) compared.push_back(sectors[i]);
        for (const SharedSector& pair : compared) {
            if (!execute(pair.reader, false)) return true;
            const BlockCounts alone = recorder_.counts();
            if (!execute(pair.writer, false, true) || !execute(pair.reader, false)) return true;
            const BlockCounts after = recorder_.counts();
            for (const auto field :
                 {&BlockCounts::instructions, &BlockCounts::thread_instructions, &BlockCounts::transactions})
                if (std::abs(after.*field - alone.*field) > kOtherWork * alone.*field) return true;
        }
        return false;
    }

    void note_same_work(const std::string& why) {
        profile_.exchanged = 0;
        profile_.assumptions.push_back(fmt::format(
            "{}: each sampled block starts with the memory as it is before the launch, and executed the same "
            "when the other block had run before it",
            why));
    }

    /// All blocks, because what they do depends on others.
    void execute_together(const std::string& why) {
        ResidentOutcome outcome;
        try {
            auto recorded = chosen_sms();
            const auto execute_all = [&] {
                return profile_resident(prepared_, machine_, sampling_, recorded, launch_.unknown != nullptr, profile_);
            };
            outcome = execute_all();
            if (outcome.complete && outcome.busier_sm) {
                // The launch may end with that block, as where the last one adds what the others have left.
                recorded.insert(*outcome.busier_sm);
                outcome = execute_all();
            }
        } catch (const sim::machine_code::WaitsForever& forever) {
            throw InputError(fmt::format("{}; expected blocks that fit the GPU at once and end", forever.what()));
        }
        if (outcome.wait) hand_over(fmt::format("blocks wait for each other: {}", text_of(*outcome.wait)));
        if (!outcome.complete) hand_over(why);
        stopped_.reset();
        together_ = true;
        profile_.warnings.clear();
        profile_.assumptions.push_back(
            fmt::format("{}: all blocks were executed together, in an order that the GPU could have", why));
        if (const double read = exchange_.share(); read > kReadMeanwhile)
            profile_.warnings.push_back(
                fmt::format("blocks read what others write meanwhile: {:.0f}% of the sectors that they load. How much "
                            "they do may depend on their order, which on a GPU may be another one: the prediction may "
                            "be far off",
                            100 * read));
    }

    [[noreturn]] void hand_over(const std::string& why) const {
        throw DependentLaunch(
            fmt::format("kernel '{}': {}. Sampled blocks do not tell how long that takes. Use `gputomo simulate`",
                        profile_.kernel, why),
            why);
    }

    const PreparedLaunch& prepared_;
    sim::machine_code::FunctionalLaunch launch_;
    const machine::Machine& machine_;
    Sampling sampling_;
    std::uint64_t sms_;
    Recorder::Clock::time_point deadline_;
    SavedMemory saved_;
    sim::machine_code::UnknownMemory unknown_;
    Recorder recorder_;
    std::mt19937_64 random_;
    BlockSectors all_;  ///< of all executed blocks
    PartsOfLines read_lines_{costs::scattered_spec_of(machine_)}, written_lines_ = read_lines_;
    Exchange exchange_;
    AtomicSectors atomics_;
    SharedSectors shared_;
    std::size_t left_to_watch_;  ///< instructions that may be executed to compare bytes
    bool watched_whole_ = true;  ///< no block was too long for that
    std::optional<Dependence> found_;
    bool together_ = false;  ///< all blocks were executed together, and the recorded ones are of that run
    LaunchProfile profile_;
    std::vector<std::vector<std::uint64_t>> placed_;  ///< blocks by SM, where some end at once
    std::set<std::uint64_t> known_;
    std::size_t events_ = 0;
    double executed_ = 0;  ///< warp instructions of the sampled blocks
    std::uint32_t most_polls_ = kPollsAlone;
    std::optional<Interruption::Why> stopped_;
    std::optional<sim::machine_code::Wait> waits_forever_;  ///< in a block that was executed alone
    std::vector<sim::machine_code::Wait> waits_;            ///< in those that ended
};

}  // namespace

LaunchProfile profile_launch(const PreparedLaunch& launch, const machine::Machine& machine, const Sampling& sampling) {
    try {
        return Profiler(launch, machine, sampling, false).run();
    } catch (const sim::machine_code::NeedsProducts&) {
        return Profiler(launch, machine, sampling, true).run();
    }
}

}  // namespace gputomo::launch
