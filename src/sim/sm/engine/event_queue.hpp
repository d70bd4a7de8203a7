// The events of all schedulers, the earliest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::sim {

/// When a scheduler can issue next. Where several schedulers can at the same time, the one that issued longest ago
/// comes first. They therefore take turns at what they share: banks of shared memory and the path to memory.
struct Event {
    double time = 0;
    double last_issue = 0;
    std::uint32_t scheduler = 0;

    [[nodiscard]] bool before(const Event& other) const {
        if (time != other.time) return time < other.time;
        if (last_issue != other.last_issue) return last_issue < other.last_issue;
        return scheduler < other.scheduler;
    }
};

/// A binary heap, which each simulated instruction passes. A std::priority_queue of tuples copies whole events that
/// were just written field by field, and processors wait for that. Here each field has its own array.
class EventQueue {
public:
    [[nodiscard]] bool empty() const { return times_.empty(); }
    [[nodiscard]] double first_time() const { return times_.front(); }
    [[nodiscard]] Event first() const { return at(0); }

    void push(const Event& event) {
        std::size_t hole = times_.size();
        times_.push_back(event.time);
        last_issues_.push_back(event.last_issue);
        schedulers_.push_back(event.scheduler);
        while (hole > 0) {
            const std::size_t parent = (hole - 1) / 2;
            if (!event.before(at(parent))) break;
            put(hole, at(parent));
            hole = parent;
        }
        put(hole, event);
    }
    void pop() {
        const Event last = at(times_.size() - 1);
        times_.pop_back();
        last_issues_.pop_back();
        schedulers_.pop_back();
        const std::size_t count = times_.size();
        if (count == 0) return;
        std::size_t hole = 0;
        for (std::size_t child = 1; child < count; child = 2 * hole + 1) {
            if (child + 1 < count && at(child + 1).before(at(child))) ++child;
            if (!at(child).before(last)) break;
            put(hole, at(child));
            hole = child;
        }
        put(hole, last);
    }

private:
    [[nodiscard]] Event at(std::size_t i) const { return {times_[i], last_issues_[i], schedulers_[i]}; }
    void put(std::size_t i, const Event& event) {
        times_[i] = event.time;
        last_issues_[i] = event.last_issue;
        schedulers_[i] = event.scheduler;
    }

    std::vector<double> times_, last_issues_;
    std::vector<std::uint32_t> schedulers_;
};

}  // namespace gputomo::sim
