#include "cli/doctor/scan_time.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The recording that tells the time of this experiment; null where none does.
const Json* recording_of(const Json& scans, const std::string& experiment, const std::string& gpu) {
    const Json* longest = nullptr;
    for (const auto& scan : scans) {
        if (!scan.at("seconds").contains(experiment)) continue;
        if (scan.at("gpu") == gpu) return &scan;
        if (longest == nullptr || scan.at("seconds").at(experiment) > longest->at("seconds").at(experiment))
            longest = &scan;
    }
    return longest;
}

}  // namespace

std::optional<ScanTime> scan_time(std::string_view recordings, const std::vector<std::string>& experiments,
                                  const std::string& gpu) {
    const auto document = Json::parse(recordings);
    ScanTime time;
    for (const auto& experiment : experiments) {
        const auto* const scan = recording_of(document.at("scans"), experiment, gpu);
        if (scan == nullptr) {
            ++time.unrecorded;
            continue;
        }
        time.seconds += scan->at("seconds").at(experiment).get<double>();
        const auto name = scan->at("gpu").get<std::string>();
        if (std::ranges::find(time.gpus, name) == time.gpus.end()) time.gpus.push_back(name);
    }
    if (time.gpus.empty()) return std::nullopt;
    return time;
}

}  // namespace gputomo::cli
