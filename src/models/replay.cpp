#include "models/replay.hpp"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <random>
#include <vector>

namespace gputomo::models {
namespace {

/// Groups of each warp before throughput is looked at, and as many again in which it is.
constexpr int kSettling = 16;
constexpr int kCounted = 16;
/// SMs start, and accesses return, this part of their time apart, at random. Started together to the cycle, identical SMs would stay in
/// step for ever and ask the memory in turns; far apart, each would find it free. Nothing measured says which; between them lies what GPUs do.
constexpr double kStartSpread = 0.1;
constexpr double kLatencySpread = 0.1;

/// Warps that compute on one scheduler, all at the same speed. `progress` is what a warp that was there from the start would have done.
struct Computing {
    struct Work {
        double until = 0;  ///< of `progress`
        std::uint32_t warp = 0;
        bool operator>(const Work& other) const { return until > other.until; }
    };
    std::priority_queue<Work, std::vector<Work>, std::greater<>> warps;
    double progress = 0;
    double time = 0;  ///< of `progress`
    std::uint32_t version = 0;
};

class Replay {
public:
    explicit Replay(const ReplayStations& stations)
        : s_(stations), schedulers_(static_cast<std::size_t>(s_.sms * s_.schedulers)), warps_(static_cast<std::size_t>(s_.sms * s_.warps)) {
        servers_.assign(static_cast<std::size_t>(s_.servers), 0);
    }

    double run() {
        start();
        while (running_ > 0) {
            const Event event = events_.top();
            events_.pop();
            if (event.returns) begin_computing(event.index, event.time);
            else if (event.version == schedulers_[event.index].version) end_computing(event.index, event.time);
        }
        double rate = 0;
        for (const auto& warp : warps_) rate += kCounted / (warp.last - warp.first);
        return rate / s_.sms;
    }

private:
    struct Warp {
        int groups = 0;
        double first = 0, last = 0;
    };
    struct Event {
        double time = 0;
        bool returns = false;  ///< of an access; else the first warp of a scheduler has done its arithmetic
        std::uint32_t index = 0;
        std::uint32_t version = 0;
        bool operator>(const Event& other) const { return time > other.time; }
    };

    void start() {
        running_ = warps_.size();
        const double alone = s_.work * s_.alone + s_.delay;
        std::uniform_real_distribution<double> any(0, 1);
        for (int sm = 0; sm < s_.sms; ++sm) {
            const double at = kStartSpread * alone * any(random_);
            for (int warp = 0; warp < s_.warps; ++warp) events_.push({at + s_.alone * any(random_), true, static_cast<std::uint32_t>(sm * s_.warps + warp), 0});
        }
    }

    [[nodiscard]] double speed(const Computing& scheduler) const {
        return 1 / std::max(s_.alone, s_.slot * static_cast<double>(scheduler.warps.size()));
    }
    void advance(Computing& scheduler, double now) const {
        if (!scheduler.warps.empty()) scheduler.progress += speed(scheduler) * (now - scheduler.time);
        scheduler.time = now;
    }
    void expect(std::uint32_t index) {
        Computing& scheduler = schedulers_[index];
        ++scheduler.version;
        if (scheduler.warps.empty()) return;
        const double left = std::max(0.0, scheduler.warps.top().until - scheduler.progress);
        events_.push({scheduler.time + left / speed(scheduler), false, index, scheduler.version});
    }
    [[nodiscard]] std::uint32_t scheduler_of(std::uint32_t warp) const {
        const auto per_sm = static_cast<std::uint32_t>(s_.warps);
        return warp / per_sm * static_cast<std::uint32_t>(s_.schedulers) + warp % per_sm % static_cast<std::uint32_t>(s_.schedulers);
    }

    void begin_computing(std::uint32_t warp, double now) {
        const std::uint32_t index = scheduler_of(warp);
        Computing& scheduler = schedulers_[index];
        advance(scheduler, now);
        scheduler.warps.push({scheduler.progress + s_.work, warp});
        expect(index);
    }

    void end_computing(std::uint32_t index, double now) {
        Computing& scheduler = schedulers_[index];
        advance(scheduler, now);
        const std::uint32_t warp = scheduler.warps.top().warp;
        scheduler.warps.pop();
        count(warps_[warp], now);
        double& free = servers_[index * servers_.size() / schedulers_.size()];
        const double served = std::max(now, free);
        free = served + s_.service;
        std::uniform_real_distribution<double> any(-kLatencySpread, kLatencySpread);
        events_.push({served + s_.delay * (1 + any(random_)), true, warp, 0});
        expect(index);
    }

    void count(Warp& warp, double now) {
        ++warp.groups;
        if (warp.groups == kSettling) warp.first = now;
        if (warp.groups == kSettling + kCounted) {
            warp.last = now;
            --running_;
        }
    }

    const ReplayStations& s_;
    std::vector<Computing> schedulers_;
    std::vector<Warp> warps_;
    std::vector<double> servers_;  ///< when each is free
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::size_t running_ = 0;
    std::mt19937 random_{1};
};

}  // namespace

double replayed_throughput(const ReplayStations& stations) { return Replay(stations).run(); }

}  // namespace gputomo::models
