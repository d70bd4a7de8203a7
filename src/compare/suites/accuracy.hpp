// How far simulations and predictions are from a GPU, over the entries of suites.
#pragma once

#include "answer/answer.hpp"
#include "compare/suites/suite.hpp"
#include "sim/sm/sampling/sampling_plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::compare {

enum class Method : std::uint8_t { simulation, prediction };
inline constexpr std::array kMethods{Method::simulation, Method::prediction};

[[nodiscard]] std::string_view name_of(Method method);

/// What one method says of an entry.
struct EntryAnswer {
    std::string failure;  ///< why there is no answer; empty where there is one
    double cycles = 0, instructions = 0, dram_bytes = 0;
    double seconds = 0;   ///< that the answer took on this computer
    std::string limiter;  ///< of a prediction: a unit of a profiler or "latency", as measured_limiter() names them
    sim::SampledBlocks blocks;  ///< of a simulation
    std::vector<std::string> warnings;
};

/// An entry beside the answers to it.
struct Scored {
    SuiteEntry entry;
    std::array<std::optional<EntryAnswer>, kMethods.size()> answers{};  ///< by method; nullopt where it was not asked
    std::string lost;  ///< what the reduction of its capture could not prove; empty where there is nothing

    [[nodiscard]] const std::optional<EntryAnswer>& answer(Method method) const {
        return answers[static_cast<std::size_t>(method)];
    }
    [[nodiscard]] std::optional<EntryAnswer>& answer(Method method) {
        return answers[static_cast<std::size_t>(method)];
    }

    /// |answered - measured| / measured, of cycles. An entry without an answer counts as 1.
    [[nodiscard]] double error(Method method) const;
    /// Answered over measured; nullopt where either is missing.
    [[nodiscard]] std::optional<double> instruction_ratio(Method method) const;
    [[nodiscard]] std::optional<double> dram_ratio(Method method) const;

private:
    [[nodiscard]] std::optional<double> ratio(Method method, double EntryAnswer::*value,
                                              std::initializer_list<const char*> counters) const;
};

/// The profiler's unit with the highest utilisation, if that is above `kBusy`: "SM", "L1", "L2" or "DRAM"; otherwise
/// "latency". nullopt where no utilisation was measured.
[[nodiscard]] std::optional<std::string> measured_limiter(const SuiteEntry& entry);
/// Names the limiter by what it says is used, as measured_limiter() does by counters.
[[nodiscard]] std::string limiter_by_use(const answer::Limiter& limiter);

/// What is compared of an answer.
[[nodiscard]] EntryAnswer entry_answer(const answer::Answer& answer);

inline constexpr double kBusy = 0.6;

struct Accuracy {
    std::size_t entries = 0, answered = 0;
    double mean = 0, median = 0, percentile_90 = 0;  ///< of the error, failures among them
    double mean_of_answered = 0, median_of_answered = 0;
    double median_seconds = 0, percentile_90_seconds = 0;
    std::size_t limiters = 0, right_limiters = 0;  ///< of predictions whose limiter was measured
};

/// Over all entries but those that wait for asynchronous matrix instructions, which are reported apart.
[[nodiscard]] Accuracy accuracy_of(std::span<const Scored> scored, Method method);

/// The page in Markdown: the score of each method, its ten largest errors, failures, and all entries.
[[nodiscard]] std::string accuracy_page(std::span<const Scored> scored, const std::string& device,
                                        const std::string& gpu);

}  // namespace gputomo::compare
