// Random machines, simulated, scanned blind, compared.
#pragma once

#include "sim/simulator.hpp"
#include "validate/compare.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gputomo::validate {

struct Campaign {
    int machines = 20;
    std::uint64_t seed = 1;
    sim::Noise noise;
    unsigned threads = 2;
    /// Called with the number of machines done, from any thread, one at a time.
    std::function<void(int done)> progress;
    /// Asked often, from any thread: whether to stop. Machines that are not done then don't count.
    std::function<bool()> stop;
};

struct Result {
    Tallies tallies;
    struct Case {
        std::uint64_t seed = 0;
        std::vector<Comparison> wrong;
        std::vector<std::string> failures;  ///< experiments that did not finish, with the reason
    };
    std::vector<Case> cases;  ///< in order of the seeds; fewer than asked for where the campaign was stopped
};

/// The same result for the same machines, seed and noise, whatever the number of threads.
[[nodiscard]] Result run(const Campaign& campaign);

}  // namespace gputomo::validate
