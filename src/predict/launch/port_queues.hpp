// Warps of an SM that wait for a scheduler or a unit, and which of them is next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace gputomo::predict {

struct WaitingWarp {
    std::uint32_t age = 0;  ///< warps with a smaller number are next
    double issued = 0;      ///< of these, the warp whose last issue is longest ago
    std::uint32_t warp = 0;

    bool operator>(const WaitingWarp& other) const {
        return std::tie(age, issued, warp) > std::tie(other.age, other.issued, other.warp);
    }
};

class PortQueues {
public:
    explicit PortQueues(std::size_t ports) : ports_(ports) {}

    void add(std::size_t port, const WaitingWarp& warp) {
        auto& waiting = ports_[port].waiting;
        waiting.push_back(warp);
        std::ranges::push_heap(waiting, std::greater());
    }

    /// Removes the warp that is next. Some warp waits.
    std::uint32_t take_next(std::size_t port) {
        auto& waiting = ports_[port].waiting;
        std::ranges::pop_heap(waiting, std::greater());
        const std::uint32_t warp = waiting.back().warp;
        waiting.pop_back();
        return warp;
    }

    [[nodiscard]] std::span<const WaitingWarp> waiting(std::size_t port) const { return ports_[port].waiting; }

    /// Someone will look at the port when it is free. Returns false where that was so before.
    bool call(std::size_t port) { return !std::exchange(ports_[port].called, true); }
    void answer(std::size_t port) { ports_[port].called = false; }

private:
    struct Port {
        std::vector<WaitingWarp> waiting;  ///< a heap
        bool called = false;
    };
    std::vector<Port> ports_;
};

}  // namespace gputomo::predict
