// Loads of the SMs of one GPC on their way to the cache of all SMs. What they bring back passes one port, and loads of
// one line at the same time are one request.
#pragma once

#include "sim/memory/server.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gputomo::sim {

struct GpcSpec {
    double cycles_per_byte = 0;  ///< of the port; 0: not limited
    std::uint32_t merged = 1;    ///< most loads that are one request
    double within = 0;           ///< cycles between the first and the last of them
};

/// A load of a part of a line.
struct LineLoad {
    std::uint64_t line = 0;
    std::uint64_t sectors = 0;  ///< as bits
    double bytes = 0;
    std::uint32_t sm = 0;
};

class GpcRequests {
public:
    explicit GpcRequests(const GpcSpec& spec);

    /// Where the load is part of an earlier request: when its data are there. Data for several SMs pass the port once,
    /// but an SM that asks twice gets them twice.
    [[nodiscard]] std::optional<double> join(const LineLoad& load, double now);
    /// The load is a request of its own, which left its SM at `now`. Its data are there at `done`.
    void add(const LineLoad& load, double now, double done);
    /// What the load brings back takes the port for as many cycles.
    [[nodiscard]] double service(const LineLoad& load) const { return load.bytes * spec_.cycles_per_byte; }
    [[nodiscard]] Server& port() { return port_; }
    [[nodiscard]] const Server& port() const { return port_; }

private:
    struct Request {
        std::uint64_t line = ~std::uint64_t{0}, sectors = 0;
        double at = 0, done = 0;
        std::uint64_t sms = 0;  ///< that are part of it, as bits; two of one GPC have different bits
        std::uint32_t loads = 0;
    };
    [[nodiscard]] Request& place_of(std::uint64_t line);

    GpcSpec spec_;
    Server port_;
    std::vector<Request> requests_;  ///< by a hash of the line; a later one replaces an earlier one
};

}  // namespace gputomo::sim
