// The events of all schedulers, the earliest first.
#pragma once

#include <bit>
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
};

/// A binary heap, which each simulated instruction passes. A std::priority_queue of tuples copies whole events that
/// were just written field by field, and processors wait for that. Here each field has its own array. Times are 0 or
/// more, so that their bits are ordered as they are. Comparing integers takes no branch, which would be predicted
/// wrongly half of the time.
class EventQueue {
public:
    [[nodiscard]] bool empty() const { return times_.empty(); }
    [[nodiscard]] double first_time() const { return std::bit_cast<double>(times_.front()); }
    [[nodiscard]] Event first() const {
        return {first_time(), std::bit_cast<double>(last_issues_.front()), schedulers_.front()};
    }

    void push(const Event& event) {
        const Key key{bits_of(event.time), bits_of(event.last_issue), event.scheduler};
        std::size_t hole = times_.size();
        times_.push_back(key.time);
        last_issues_.push_back(key.last_issue);
        schedulers_.push_back(key.scheduler);
        while (hole > 0) {
            const std::size_t parent = (hole - 1) / 2;
            if (!before(key, at(parent))) break;
            put(hole, at(parent));
            hole = parent;
        }
        put(hole, key);
    }
    void pop() {
        const Key last = at(times_.size() - 1);
        times_.pop_back();
        last_issues_.pop_back();
        schedulers_.pop_back();
        const std::size_t count = times_.size();
        if (count == 0) return;
        std::size_t hole = 0;
        std::size_t child = 1;
        for (; child + 1 < count; child = 2 * hole + 1) {
            child += before(at(child + 1), at(child)) ? 1 : 0;
            if (!before(at(child), last)) return put(hole, last);
            put(hole, at(child));
            hole = child;
        }
        if (child < count && before(at(child), last)) {
            put(hole, at(child));
            hole = child;
        }
        put(hole, last);
    }

private:
    struct Key {
        std::uint64_t time, last_issue;  ///< their bits
        std::uint32_t scheduler;
    };
    /// Adding 0 makes 0 of -0, whose bits are the greatest.
    static std::uint64_t bits_of(double time) { return std::bit_cast<std::uint64_t>(time + 0.0); }
    static bool before(const Key& a, const Key& b) {
        const bool scheduler = a.scheduler < b.scheduler;
        const bool last = (a.last_issue < b.last_issue) | ((a.last_issue == b.last_issue) & scheduler);
        return (a.time < b.time) | ((a.time == b.time) & last);
    }
    [[nodiscard]] Key at(std::size_t i) const { return {times_[i], last_issues_[i], schedulers_[i]}; }
    void put(std::size_t i, const Key& key) {
        times_[i] = key.time;
        last_issues_[i] = key.last_issue;
        schedulers_[i] = key.scheduler;
    }

    std::vector<std::uint64_t> times_, last_issues_;
    std::vector<std::uint32_t> schedulers_;
};

}  // namespace gputomo::sim
