// What the launches of a program cost: a row for each kernel, and a total.
#pragma once

#include "answer/answer.hpp"
#include "capture/capture.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::answer {

/// One launch of a capture, answered or not.
struct ProgramLaunch {
    std::size_t number = 0;  ///< in the capture
    std::optional<Answer> answer;
    std::string failed;  ///< why there is no answer; empty where there is one
};

/// All answered launches of one kernel. Times are in microseconds.
struct KernelRow {
    std::string kernel;  ///< as in the code
    std::string label;   ///< short and readable; no other row has it
    std::vector<std::size_t> launches;
    std::size_t longest = 0;  ///< of `launches`, the one that takes longest
    std::size_t failed = 0;   ///< launches of this kernel without an answer
    double microseconds = 0;
    double share = 0;                             ///< of the time of all rows
    std::string limiter;                          ///< of most of the time; empty where it is not known
    double limiter_share = 0;                     ///< of the row's time, for which that is the limiter
    std::optional<double> captured_microseconds;  ///< of the launches whose time was captured
    /// Answered over captured time, minus 1, of launches that have both. nullopt where none has, or where another GPU
    /// than the described one was captured.
    std::optional<double> error;
    std::vector<std::string> warnings;  ///< of the longest launch
    std::size_t warned = 0;             ///< launches with warnings
};

/// When the captured GPU worked, by its events.
struct CapturedTimeline {
    double span_microseconds = 0;  ///< from the first start to the last end
    double busy_microseconds = 0;  ///< for which at least one launch ran
    double sum_microseconds = 0;   ///< of all launches; larger than `busy` where launches overlap
    std::size_t launches = 0, streams = 0;
};

struct Program {
    std::string gpu;           ///< of the description
    std::string captured_gpu;  ///< empty where launches are of several or of none
    Caches caches;
    Method method = Method::predict;
    std::vector<KernelRow> kernels;  ///< longest first
    double microseconds = 0;         ///< of all answered launches, one after the other
    std::size_t answered = 0, failed = 0;
    std::size_t not_asked = 0;       ///< launches of the capture that are neither: without memory, or not named
    std::size_t graph_launches = 0;  ///< of whole graphs, among those
    std::optional<double> not_asked_microseconds;  ///< their captured time
    std::optional<double> captured_microseconds;   ///< of the answered launches
    std::optional<double> error;                   ///< as in KernelRow
    std::optional<CapturedTimeline> timeline;      ///< nullopt where no time was captured
    std::vector<std::string> assumptions;          ///< of any launch, each once
    /// Launches whose memory was compared with what the recorded GPU left, and those of them where it differs.
    std::size_t compared = 0;
    std::vector<std::size_t> different;
    /// Failures by their message, with the launches that have it.
    struct Failure {
        std::string message;
        std::vector<std::size_t> launches;
    };
    std::vector<Failure> failures;
};

/// The readable name of a kernel without its return type, template arguments and parameters.
[[nodiscard]] std::string short_name(const std::string& readable);

/// Sums up launches of one capture, each at most once.
[[nodiscard]] Program program_of(const capture::Capture& captured, const std::vector<ProgramLaunch>& launches);

/// A table with a row for each kernel.
[[nodiscard]] std::string program_text(const Program& program);
/// A table with a row for each launch, in the order of the program.
[[nodiscard]] std::string launches_text(const capture::Capture& captured, const std::vector<ProgramLaunch>& launches);
[[nodiscard]] nlohmann::ordered_json program_json(const Program& program);

}  // namespace gputomo::answer
