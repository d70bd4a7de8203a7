#include "predict/static/queues.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace gputomo::predict {

namespace {

/// Waiting time relative to that of random (Poisson) arrivals: the squared coefficient of variation of the times
/// between arrivals (Kingman 1961). The time between two blocks that left one after the other has the jitter of both.
double irregularity(const Station& station, double rate) {
    return station.jitter ? std::min(1.0, 2 * std::pow(*station.jitter * rate, 2)) : 1;
}

}  // namespace

Queued queued(std::span<const Station> stations, double latency, double blocks) {
    double served = 0, longest = 0;
    for (const auto& station : stations) served += station.cycles, longest = std::max(longest, station.cycles);
    const double elsewhere = std::max(0.0, latency - served);
    // If the services of a lone block add up to more than its latency, several stations serve parts of it at a time.
    const double alone = served > latency ? std::max(latency, longest) / served : 1;
    std::vector<double> at(stations.size(), 0);  // mean number of blocks at each station
    Queued before{.waiting = at}, found = before;
    const int whole = static_cast<int>(std::ceil(blocks));
    for (int count = 1; count <= whole; ++count) {
        before = found;
        double round = elsewhere;
        for (std::size_t i = 0; i < stations.size(); ++i) {
            const double cycles = stations[i].cycles - stations[i].uncontended;
            const double over = stations[i].jitter ? before.throughput * cycles / 2 : 0;
            found.waiting[i] = cycles * (at[i] - over) * irregularity(stations[i], before.throughput);
            round += stations[i].cycles * alone + found.waiting[i];
        }
        found.throughput = std::min(count / round, 1 / longest);
        for (std::size_t i = 0; i < stations.size(); ++i)
            at[i] = found.throughput * ((stations[i].cycles - stations[i].uncontended) * alone + found.waiting[i]);
    }
    const double part = blocks - (whole - 1);
    const auto between = [part](double low, double high) { return low + part * (high - low); };
    for (std::size_t i = 0; i < stations.size(); ++i) found.waiting[i] = between(before.waiting[i], found.waiting[i]);
    found.throughput = between(before.throughput, found.throughput);
    return found;
}

double queued_throughput(std::span<const Station> stations, double latency, double blocks) {
    return queued(stations, latency, blocks).throughput;
}

}  // namespace gputomo::predict
