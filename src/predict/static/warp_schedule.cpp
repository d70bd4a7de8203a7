#include "predict/static/warp_schedule.hpp"

#include "predict/static/queues.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <variant>

namespace gputomo::predict {
namespace {

/// Samples of a warp with varying load latencies. A prime, so that every load of a warp draws the same latencies in an
/// order of its own. More samples reduce the error of the mean and take proportionally longer.
constexpr int kSamples = 61;

/// Deviation from -1 to 1 of load number `load` in `sample`. Over all samples, a load draws each of kSamples evenly
/// spaced deviations once.
double deviation(int sample, int load) {
    constexpr int kOrder = 17, kShift = 23;
    const int step = ((1 + load * kOrder % (kSamples - 1)) * sample + load * kShift) % kSamples;
    return (2 * step + 1) / static_cast<double>(kSamples) - 1;
}

/// Iterations of a loop that are simulated one by one. The second half gives the period, and the first half settles it.
constexpr int kFollowed = 16, kHalf = kFollowed / 2;

class Issue {
public:
    /// `sample`: which sample of varying latencies to use; nullopt for mean latencies.
    Issue(const Code& code, Costs& costs, const WarpConditions& conditions, std::optional<int> sample = std::nullopt)
        : code_(code),
          costs_(costs),
          conditions_(conditions),
          sample_(sample),
          ready_(code.registers),
          known_(code.instructions.size()) {
        timing_.issue_times.assign(code.instructions.size(), -1);
    }

    WarpTiming run(const Path& path) {
        follow(path.steps);
        timing_.latency = last_issue_ + costs_.block_replacement();
        return std::move(timing_);
    }

private:
    void follow(const std::vector<Step>& steps) {
        for (const auto& step : steps) {
            if (const auto* index = std::get_if<std::size_t>(&step))
                issue(*index);
            else
                iterate(*std::get<1>(step));
        }
    }

    void iterate(const Loop& loop) {
        double half_time = 0;
        Work half_work;
        const int followed = static_cast<int>(std::min<double>(loop.trips, kFollowed));
        for (int i = 0; i < followed; ++i) {
            if (i == kHalf) half_time = last_issue_, half_work = timing_.work;
            follow(loop.body);
        }
        if (loop.trips <= kFollowed) return;
        const double periods = (loop.trips - kFollowed) / (kFollowed - kHalf);
        const Work more = periods * (timing_.work - half_work);
        timing_.work += more;
        advance(periods * (last_issue_ - half_time));
    }

    /// Postpones everything in flight by `cycles`.
    void advance(double cycles) {
        last_issue_ += cycles;
        next_ += cycles;
        phase_start_ += cycles;
        for (auto& ready : ready_) ready += cycles;
        for (auto& done : loads_) done += cycles;
    }

    void issue(std::size_t index) {
        const Instruction& instruction = code_.instructions[index];
        behind_branch(index);
        double operands = 0;
        for (const auto reg : instruction.reads) operands = std::max(operands, ready_[reg]);
        if (instruction.kind == Kind::free) {
            for (const auto reg : instruction.writes) ready_[reg] = operands;
            return;
        }
        for (const auto reg : instruction.writes) operands = std::max(operands, ready_[reg]);
        const Cost& cost = cost_of(index);
        const bool loads = instruction.access && instruction.access->load && cost.resource == Resource::memory;
        if (loads) operands = std::max(operands, room_for_load());
        const bool paired = pairs(instruction, operands, cost);
        const double time = instruction.kind == Kind::barrier ? meeting(std::max(next_, operands))
                            : paired                          ? last_issue_
                                                              : std::max(next_, operands);
        use(cost);
        account(cost, paired);
        const double latency = cost.latency + (sample_ && loads ? cost.spread * deviation(*sample_, drawn_++) : 0);
        for (const auto reg : instruction.writes) ready_[reg] = time + latency;
        if (loads && costs_.max_outstanding_loads() > 0) loads_.push_back(time + latency);
        if (timing_.issue_times[index] < 0) timing_.issue_times[index] = time;
        last_ = {&instruction, cost.resource, paired};
        last_issue_ = time;
        next_ = std::max(next_, time + gap_behind(instruction));
        if (instruction.kind == Kind::branch) branch_ = index;
    }

    /// Adds the latency of the branch before; the instruction that follows it tells whether it was taken.
    void behind_branch(std::size_t index) {
        if (!branch_) return;
        const bool taken = index != *branch_ + 1 || !code_.instructions[*branch_].guarded;
        next_ = std::max(next_, last_issue_ + costs_.branch_latency(taken));
        branch_.reset();
    }

    void use(const Cost& cost) {
        const double issues = costs_.parameters().issue_throughput;
        Station& station = phase_[static_cast<std::size_t>(cost.resource)];
        station.cycles += cost.cycles;
        if (cost.uncontended(issues)) station.uncontended += cost.cycles;
        phase_.back().cycles += cost.issue_cycles(issues);
    }

    /// The cycle at which the block's last warp arrives at a barrier that this warp, if alone, reaches at `own`.
    /// Between two barriers the warps of the block queue for the resources.
    double meeting(double own) {
        const double alone = own - phase_start_;
        if (conditions_.warps_of_block > 1 && alone > 0)
            own = phase_start_ +
                  conditions_.warps_of_block / queued_throughput(phase_, alone, conditions_.warps_of_block);
        phase_start_ = own;
        phase_.fill({});
        return own;
    }

    /// Costs do not change during a run, so each instruction is looked up once.
    const Cost& cost_of(std::size_t index) {
        if (!known_[index]) known_[index] = costs_.of(code_.instructions[index], conditions_.memory_latency);
        return *known_[index];
    }

    /// Cycles until the warp can issue any next instruction. Branches add more (behind_branch).
    [[nodiscard]] double gap_behind(const Instruction& instruction) const {
        const double ilp = costs_.parameters().ilp_latency;
        if (instruction.kind == Kind::barrier) return std::max(ilp, costs_.barrier_latency());
        return ilp;
    }

    /// Two independent neighbours issue in one slot, but not two memory instructions (Volkov 2016, 3.8).
    [[nodiscard]] bool pairs(const Instruction& instruction, double operands, const Cost& cost) const {
        if (!costs_.dual_issue() || last_.instruction == nullptr || last_.paired) return false;
        if (last_.instruction->kind == Kind::branch || last_.instruction->kind == Kind::barrier) return false;
        if (cost.resource == Resource::memory && last_.resource == Resource::memory) return false;
        return operands <= last_issue_ && !depends(instruction, *last_.instruction);
    }

    static bool depends(const Instruction& later, const Instruction& earlier) {
        const auto writes = [&](std::uint32_t reg) {
            return std::find(earlier.writes.begin(), earlier.writes.end(), reg) != earlier.writes.end();
        };
        return std::any_of(later.reads.begin(), later.reads.end(), writes) ||
               std::any_of(later.writes.begin(), later.writes.end(), writes);
    }

    void account(const Cost& cost, bool paired) {
        Work& work = timing_.work;
        if (paired)
            work.single_issues -= 1, work.dual_issues += 1;
        else
            work.single_issues += 1;
        work.reissues += cost.reissues;
        const bool cores = cost.resource == Resource::cores;
        if (cores && !(paired && last_.resource == Resource::cores)) work.core_issues += 1;
    }

    /// The cycle at which the warp may issue a further load: when the oldest one completes, if it is at its limit.
    double room_for_load() {
        const auto most = static_cast<std::size_t>(costs_.max_outstanding_loads());
        if (most == 0 || loads_.size() < most) return 0;
        const double oldest = loads_.front();
        loads_.pop_front();
        return oldest;
    }

    struct Last {
        const Instruction* instruction = nullptr;
        Resource resource = Resource::cores;
        bool paired = false;
    };

    const Code& code_;
    Costs& costs_;
    WarpConditions conditions_;
    std::optional<int> sample_;
    int drawn_ = 0;                   ///< loads whose latency was drawn
    double phase_start_ = 0;          ///< cycle of the last barrier
    std::array<Station, 6> phase_{};  ///< use of each resource since then, issue last
    std::vector<double> ready_;       ///< by register, cycle at which its value is available
    std::vector<std::optional<Cost>> known_;
    std::deque<double> loads_;  ///< completion of the loads in flight, oldest first
    Last last_;
    std::optional<std::size_t> branch_;  ///< index of the branch, if one was issued last
    double last_issue_ = 0;
    double next_ = 0;
    WarpTiming timing_;
};

}  // namespace

Work& Work::operator+=(const Work& other) {
    single_issues += other.single_issues;
    dual_issues += other.dual_issues;
    reissues += other.reissues;
    core_issues += other.core_issues;
    return *this;
}

Work operator-(Work a, const Work& b) { return a += -1.0 * b; }

Work operator*(double factor, Work work) {
    work.single_issues *= factor;
    work.dual_issues *= factor;
    work.reissues *= factor;
    work.core_issues *= factor;
    return work;
}

WarpTiming warp_timing(const Code& code, const Path& path, Costs& costs, const WarpConditions& conditions) {
    return Issue(code, costs, conditions).run(path);
}

SpreadLatency spread_latency(const Code& code, const Path& path, Costs& costs, const WarpConditions& conditions) {
    double sum = 0, squares = 0;
    for (int sample = 0; sample < kSamples; ++sample) {
        const double latency = Issue(code, costs, conditions, sample).run(path).latency;
        sum += latency, squares += latency * latency;
    }
    const double mean = sum / kSamples;
    return {mean, std::sqrt(std::max(0.0, squares / kSamples - mean * mean))};
}

}  // namespace gputomo::predict
