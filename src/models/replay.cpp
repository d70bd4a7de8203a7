#include "models/replay.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <random>
#include <vector>

namespace gputomo::models {
namespace {

/// Groups of each warp before counting starts: warps that start together collide more often than in the steady
/// state. Fewer bias the throughput, more take longer.
constexpr int kSettling = 14;
/// Groups of each warp that count: about `kAllCounted` over all warps, so that few warps run longer and random
/// latencies average out. More take longer, and fewer leave a larger sampling error.
constexpr int kLeastCounted = 6, kMostCounted = 150, kAllCounted = 1200;
/// SMs start at random within this share of a lone group's time. Identical SMs that start in the same cycle would stay
/// in step for ever and access memory in turns. SMs that start far apart would each find it free. Real GPUs lie
/// between the two; no measurement says where.
constexpr double kStartSpread = 0.1;

class Replay {
public:
    explicit Replay(const ReplayStations& stations)
        : s_(stations),
          schedulers_(static_cast<std::size_t>(s_.sms * s_.schedulers)),
          warps_(static_cast<std::size_t>(s_.sms * s_.warps)),
          free_(static_cast<std::size_t>(s_.servers), 0),
          counted_(std::clamp(kAllCounted / (s_.sms * s_.warps), kLeastCounted, kMostCounted)) {}

    Replayed run() {
        start();
        // An access returns no sooner than its smallest latency, so schedulers do not affect each other within a step.
        const double step = std::max(1.0, s_.access_latency * (1 - s_.latency_spread));
        for (double now = 0; running_ > 0; now += step) {
            for (auto& scheduler : schedulers_) issue_until(scheduler, now + step);
            serve();
        }
        double rate = 0;
        for (const auto& warp : warps_) rate += counted_ / (warp.last - warp.first);
        return {.throughput = rate / s_.sms, .waiting = waits_ > 0 ? waited_ / waits_ : 0};
    }

private:
    struct Warp {
        int groups = 0;
        int adds = 0;      ///< left in this group
        double carry = 0;  ///< accumulated fraction of an add
        double first = 0, last = 0;
    };
    struct Ready {
        double time = 0;
        std::uint32_t warp = 0;
        bool operator<(const Ready& other) const { return time > other.time; }  // the earliest on top of a heap
    };
    struct Scheduler {
        std::deque<Ready> adding;     ///< warps that wait for an add, in order of time: all adds take equally long
        std::vector<Ready> answered;  ///< warps that wait for an access: a heap by time
        std::priority_queue<double, std::vector<double>, std::greater<>> held;  ///< cycles without adds
        double free = 0;
    };

    void start() {
        running_ = warps_.size();
        const double alone = s_.adds * s_.add_latency + s_.access_latency;
        for (int sm = 0; sm < s_.sms; ++sm) {
            const double at = kStartSpread * alone * any();
            for (int warp = 0; warp < s_.warps; ++warp) {
                const auto index = static_cast<std::uint32_t>(sm * s_.warps + warp);
                begin_group(warps_[index]);
                answer(index, at + s_.add_latency * any());
            }
        }
    }

    double any() { return std::uniform_real_distribution<double>(0, 1)(random_); }
    /// A random whole number of cycles whose mean is `cycles`.
    double whole(double cycles) {
        const double least = std::floor(cycles);
        return cycles > least && any() < cycles - least ? least + 1 : least;
    }
    [[nodiscard]] std::size_t scheduler_of(std::uint32_t warp) const {
        const auto per_sm = static_cast<std::uint32_t>(s_.warps);
        return warp / per_sm * static_cast<std::uint32_t>(s_.schedulers) +
               warp % per_sm % static_cast<std::uint32_t>(s_.schedulers);
    }
    void answer(std::uint32_t warp, double time) {
        auto& answered = schedulers_[scheduler_of(warp)].answered;
        answered.push_back({time, warp});
        std::push_heap(answered.begin(), answered.end());
    }
    /// Removes and returns the warp that is ready first, if that is before `end`.
    static std::optional<Ready> first(Scheduler& scheduler, double end) {
        auto& adding = scheduler.adding;
        auto& answered = scheduler.answered;
        const bool from_adds = !adding.empty() && (answered.empty() || adding.front().time <= answered.front().time);
        if (!from_adds && answered.empty()) return std::nullopt;
        const Ready found = from_adds ? adding.front() : answered.front();
        if (found.time >= end) return std::nullopt;
        if (from_adds) {
            adding.pop_front();
        } else {
            std::pop_heap(answered.begin(), answered.end());
            answered.pop_back();
        }
        return found;
    }
    void begin_group(Warp& warp) const {
        warp.carry += s_.adds;
        warp.adds = static_cast<int>(warp.carry + 1e-9);
        warp.carry -= warp.adds;
    }

    void hold(Scheduler& scheduler, double from) {
        for (double cycles = whole(s_.access_holds / 2); cycles > 0; --cycles) scheduler.held.push(from++);
    }
    /// The first cycle from `at` on in which adds may issue.
    static double not_held(Scheduler& scheduler, double at) {
        auto& held = scheduler.held;
        for (; !held.empty() && held.top() <= at; held.pop())
            if (held.top() == at) ++at;
        return at;
    }

    /// Issues in the order in which warps are ready.
    void issue_until(Scheduler& scheduler, double end) {
        while (const auto next = first(scheduler, end)) {
            double at = std::max(std::ceil(next->time), scheduler.free);
            Warp& warp = warps_[next->warp];
            if (warp.adds > 0) {
                --warp.adds;
                at = not_held(scheduler, at);
                scheduler.free = at + whole(s_.add_slot);
                scheduler.adding.push_back({at + s_.add_latency, next->warp});
                if (warp.adds == 0 && s_.accesses == 0) end_group(warp, at);
            } else {
                scheduler.free = at + whole(s_.access_slot);
                hold(scheduler, scheduler.free);
                asked_.push_back({at, next->warp});
                end_group(warp, at);
            }
        }
    }

    void serve() {
        std::ranges::sort(asked_, [](const Ready& a, const Ready& b) {
            return a.time < b.time || (a.time == b.time && a.warp < b.warp);
        });
        for (const auto& access : asked_) {
            double& free = free_[scheduler_of(access.warp) * free_.size() / schedulers_.size()];
            const double served = std::max(access.time, free);
            free = served + s_.service;
            if (warps_[access.warp].groups > kSettling) waited_ += served - access.time, ++waits_;
            const double answered = served + s_.access_latency * (1 + s_.latency_spread * (2 * any() - 1));
            hold(schedulers_[scheduler_of(access.warp)], std::ceil(answered) - 1);
            answer(access.warp, answered);
        }
        asked_.clear();
    }

    void end_group(Warp& warp, double now) {
        ++warp.groups;
        if (warp.groups == kSettling) warp.first = now;
        if (warp.groups == kSettling + counted_) {
            warp.last = now;
            --running_;
        }
        begin_group(warp);
    }

    const ReplayStations& s_;
    std::vector<Scheduler> schedulers_;
    std::vector<Warp> warps_;
    std::vector<double> free_;  ///< cycle from which each server is free
    int counted_ = 0;           ///< groups of each warp that count
    std::vector<Ready> asked_;  ///< accesses issued in this step
    double waited_ = 0;         ///< cycles for which counted accesses waited for a server
    double waits_ = 0;          ///< counted accesses
    std::size_t running_ = 0;
    std::mt19937 random_{1};
};

}  // namespace

Replayed replayed(const ReplayStations& stations) { return Replay(stations).run(); }

}  // namespace gputomo::models
