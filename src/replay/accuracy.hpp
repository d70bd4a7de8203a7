// How far the simulated GPU is from a GPU, over the entries of suites.
#pragma once

#include "replay/suite.hpp"
#include "sim/sm/sampling_plan.hpp"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gputomo::replay {

/// An entry beside its simulation.
struct Scored {
    SuiteEntry entry;
    std::string failure;  ///< why there is no simulation; empty where there is one
    double cycles = 0, instructions = 0, dram_bytes = 0;
    sim::SampledBlocks blocks;
    std::string lost;  ///< what the reduction of its capture could not prove; empty where there is nothing

    /// |simulated - measured| / measured, of cycles. An entry without a simulation counts as 1.
    [[nodiscard]] double error() const;
    /// Simulated over measured; nullopt where either is missing.
    [[nodiscard]] std::optional<double> ratio(double simulated, std::initializer_list<const char*> counters) const;
    [[nodiscard]] std::optional<double> instruction_ratio() const;
    [[nodiscard]] std::optional<double> dram_ratio() const;
};

struct Accuracy {
    std::size_t entries = 0, simulated = 0;
    double mean = 0, median = 0, percentile_90 = 0;  ///< of the error, failures among them
    double mean_of_simulated = 0, median_of_simulated = 0;
};

/// Over all entries but those that wait for asynchronous matrix instructions, which are reported apart.
[[nodiscard]] Accuracy accuracy_of(std::span<const Scored> scored);

/// The page in Markdown: the score, the ten entries with the largest errors, failures, and all entries.
[[nodiscard]] std::string accuracy_page(std::span<const Scored> scored, const std::string& device,
                                        const std::string& gpu);

}  // namespace gputomo::replay
