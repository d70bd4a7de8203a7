// Loads of several SMs for one line of the last cache: the part of the cache that has the line serves them in turn.
#pragma once

#include "sim/memory/server.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::sim {

class SharedLines {
public:
    SharedLines() = default;
    /// Each of the parts has an equal share of the cache's bandwidth, of which a byte takes `cycles_per_byte`.
    SharedLines(std::size_t parts, double cycles_per_byte)
        : parts_(cycles_per_byte > 0 ? parts : 0, Server(kSlots, true)),
          lines_(parts_.empty() ? 0 : kLines),
          cycles_per_byte_(cycles_per_byte * static_cast<double>(parts)) {}

    [[nodiscard]] bool described() const { return !parts_.empty(); }

    /// When `part` begins to serve an SM's load of a line that arrives at `now`. It waits only where another SM has
    /// asked for the line at about the same time. Other lines are spread over all parts, and wait at the cache's port.
    [[nodiscard]] double serve(std::size_t part, std::uint64_t line, std::uint32_t sm, std::uint64_t bytes,
                               double now) {
        Asked& last = lines_[line % kLines];
        const bool shared = last.line == line && last.sm != sm && std::abs(now - last.at) < kTogether;
        last = {.line = line, .sm = sm, .at = now};
        if (!shared) return now;
        return parts_[part].reserve(now, static_cast<double>(bytes) * cycles_per_byte_);
    }

private:
    /// Slots of a part's calendar: queues of up to 8,192 cycles. All warps of the GPU may wait for one line.
    static constexpr std::uint32_t kSlots = 512;
    /// Lines that are remembered. Where two collide, loads of the earlier one do not wait for each other.
    static constexpr std::size_t kLines = 4096;
    /// Cycles within which loads of a line meet. Where many do, they follow each other after a cycle or two. With many
    /// more, SMs that come back to a line from time to time would seem to share it.
    static constexpr double kTogether = 256;

    struct Asked {
        std::uint64_t line = ~std::uint64_t{0};
        std::uint32_t sm = 0;
        double at = 0;
    };
    std::vector<Server> parts_;
    std::vector<Asked> lines_;
    double cycles_per_byte_ = 0;
};

}  // namespace gputomo::sim
