// The file that keeps the answers to a suite: what `accuracy --json` prints and `accuracy --results` continues.
#pragma once

#include "compare/suites/accuracy.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace gputomo::compare {

inline constexpr const char* kAccuracySchema = "gputomo-accuracy-2";

/// What made the answers. Answers of different origin are never put together.
struct AccuracyOrigin {
    std::string version, commit, device, gpu;
    std::uint64_t seed = 1, sample_above = 0;  ///< 0: launches were not sampled
    auto operator<=>(const AccuracyOrigin&) const = default;
};

[[nodiscard]] nlohmann::ordered_json accuracy_json(std::span<const Scored> scored, const AccuracyOrigin& origin);

/// Gives entries the answers that the file has of them. Throws InputError that names file and field where it is no such
/// file, or has answers of another origin.
void restore_answers(std::span<Scored> scored, const std::filesystem::path& file, const AccuracyOrigin& origin);

/// Reads the text of such a file, which messages call `name`.
void restore_answers(std::span<Scored> scored, std::string_view text, const std::string& name,
                     const AccuracyOrigin& origin);

}  // namespace gputomo::compare
