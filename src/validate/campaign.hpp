// Validates scans: simulates random machines, scans the simulations and compares what comes out with the truth.
#pragma once

#include "sim/simulator.hpp"
#include "validate/compare.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gputomo::validate {

/// The machines that a campaign draws, the experiments it runs and the leaves it compares.
enum class Subject : std::uint8_t {
    everything,   ///< random_machine(), all experiments
    outstanding,  ///< random_outstanding_machine(), only the experiment `outstanding`
};

/// The machine that a campaign of this subject draws.
[[nodiscard]] machine::Machine machine_of(Subject subject, std::uint64_t seed);

struct Campaign {
    int machines = 20;
    std::uint64_t seed = 1;
    sim::Noise noise;
    unsigned threads = 2;
    Subject subject = Subject::everything;
    /// Is called with the number of machines done, from one thread at a time.
    std::function<void(int done)> progress;
    /// Is called often, from any thread; true stops the campaign. Machines that are not done by then do not count.
    std::function<bool()> stop;
};

struct Result {
    Tallies tallies;
    struct Case {
        std::uint64_t seed = 0;
        std::vector<Comparison> wrong;
        std::vector<std::string> failures;  ///< experiments that did not finish, each with the reason
    };
    std::vector<Case> cases;  ///< in order of the seeds; fewer than `machines` if the campaign was stopped
};

/// Runs the campaign. The result does not depend on the number of threads.
[[nodiscard]] Result run(const Campaign& campaign);

}  // namespace gputomo::validate
