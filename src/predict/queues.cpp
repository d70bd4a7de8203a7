#include "predict/queues.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gputomo::predict {

double queued_throughput(std::span<const Station> stations, double latency, double blocks) {
    double served = 0, longest = 0;
    for (const auto& station : stations) served += station.cycles, longest = std::max(longest, station.cycles);
    const double elsewhere = std::max(0.0, latency - served);
    // The parts of a block are served at several stations at a time where all of them together take longer than it needs alone.
    const double alone = served > latency ? std::max(latency, longest) / served : 1;
    std::vector<double> waiting(stations.size(), 0);  // blocks at each station
    double before = 0, rate = 0;
    const int whole = static_cast<int>(std::ceil(blocks));
    for (int count = 1; count <= whole; ++count) {
        before = rate;
        double round = elsewhere;
        std::vector<double> times;
        for (std::size_t i = 0; i < stations.size(); ++i) {
            const double over = stations[i].regular ? before * stations[i].cycles / 2 : 0;
            round += times.emplace_back(stations[i].cycles * (alone + waiting[i] - over));
        }
        rate = std::min(count / round, 1 / longest);
        for (std::size_t i = 0; i < stations.size(); ++i) waiting[i] = rate * times[i];
    }
    return before + (blocks - (whole - 1)) * (rate - before);
}

}  // namespace gputomo::predict
