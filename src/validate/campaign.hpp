// Random machines, simulated, scanned blind, compared.
#pragma once

#include "sim/simulator.hpp"
#include "validate/compare.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gputomo::validate {

/// What machines are drawn, what is measured on them and what is compared.
enum class Subject : std::uint8_t {
    everything,   ///< random_machine(), all experiments
    outstanding,  ///< random_outstanding_machine(), the experiment of outstanding loads alone
};

/// The machine that a campaign of this subject draws.
[[nodiscard]] machine::Machine machine_of(Subject subject, std::uint64_t seed);

struct Campaign {
    int machines = 20;
    std::uint64_t seed = 1;
    sim::Noise noise;
    unsigned threads = 2;
    Subject subject = Subject::everything;
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
