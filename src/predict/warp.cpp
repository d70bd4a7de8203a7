#include "predict/warp.hpp"

#include "predict/queues.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <optional>

namespace gputomo::predict {
namespace {

/// Samples of a warp whose loads' latencies spread; a prime, so that loads of different number differ in another order.
constexpr int kSamples = 61;

/// From -1 to 1, in `sample` of kSamples, for load number `load`: in all samples together each of as many even steps
/// once.
double deviation(int sample, int load) {
    constexpr int kOrder = 17, kShift = 23;
    const int step = ((1 + load * kOrder % (kSamples - 1)) * sample + load * kShift) % kSamples;
    return (2 * step + 1) / static_cast<double>(kSamples) - 1;
}

/// Turns of a loop that are followed one by one; the period is taken from the second half.
constexpr int kFollowed = 16, kHalf = kFollowed / 2;

class Issue {
public:
    /// `sample`: of latencies that spread; none for their means.
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
                turn(*std::get<1>(step));
        }
    }

    void turn(const Loop& loop) {
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

    /// All that is under way happens `cycles` later.
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

    /// Where the way goes on behind a branch tells whether it was taken.
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

    /// When the block's last warp comes to the barrier that this one, alone, reaches at `own`: on the way from one
    /// barrier to the next its warps wait for each other.
    double meeting(double own) {
        const double alone = own - phase_start_;
        if (conditions_.warps_of_block > 1 && alone > 0)
            own = phase_start_ +
                  conditions_.warps_of_block / queued_throughput(phase_, alone, conditions_.warps_of_block);
        phase_start_ = own;
        phase_.fill({});
        return own;
    }

    /// Latencies don't change during a run, so each instruction is looked up once.
    const Cost& cost_of(std::size_t index) {
        if (!known_[index]) known_[index] = costs_.of(code_.instructions[index], conditions_.memory_latency);
        return *known_[index];
    }

    /// Cycles until the warp issues again, whatever the next instruction is; behind a branch more.
    [[nodiscard]] double gap_behind(const Instruction& instruction) const {
        const double ilp = costs_.parameters().ilp_latency;
        if (instruction.kind == Kind::barrier) return std::max(ilp, costs_.barrier_latency());
        return ilp;
    }

    /// Two neighbours that don't depend on each other issue at once; loads don't pair with loads (Volkov 2016, 3.8).
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

    /// When the oldest of as many loads as a warp may have in flight is done.
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
    int drawn_ = 0;                   ///< loads whose latency was
    double phase_start_ = 0;          ///< of what lies behind the last barrier
    std::array<Station, 6> phase_{};  ///< each resource in it, issues last
    std::vector<double> ready_;       ///< by register
    std::vector<std::optional<Cost>> known_;
    std::deque<double> loads_;  ///< when loads in flight are done, oldest first
    Last last_;
    std::optional<std::size_t> branch_;  ///< that was issued last
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
