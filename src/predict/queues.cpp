#include "predict/queues.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gputomo::predict {

double queued_throughput(std::span<const double> stations, double latency, double blocks) {
    double served = 0;
    for (const double station : stations) served += station;
    const double elsewhere = std::max(0.0, latency - served);
    std::vector<double> waiting(stations.size(), 0);  // blocks at each station
    double before = 0, rate = 0;
    const int whole = static_cast<int>(std::ceil(blocks));
    for (int count = 1; count <= whole; ++count) {
        before = rate;
        double round = elsewhere;
        std::vector<double> times;
        for (std::size_t i = 0; i < stations.size(); ++i) round += times.emplace_back(stations[i] * (1 + waiting[i]));
        rate = count / round;
        for (std::size_t i = 0; i < stations.size(); ++i) waiting[i] = rate * times[i];
    }
    return before + (blocks - (whole - 1)) * (rate - before);
}

}  // namespace gputomo::predict
