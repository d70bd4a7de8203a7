#include "cli/inputs/machines.hpp"

#include "cli/inputs/devices.hpp"
#include "cli/terminal/messages.hpp"
#include "files/output_file.hpp"
#include "machine/json.hpp"
#include "scan/files.hpp"
#include "scan/gzip.hpp"
#include "scan/runner.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <utility>

namespace gputomo::cli {

std::string content_of(const std::string& file, std::string_view expected) {
    files::refuse_inputs("standard output", "/dev/stdout", {file});
    auto [content, problems] = files::read_checked(file, expected);
    for (const auto& problem : problems) out::warn("{}", problem);
    return scan::is_gzip(content) ? scan::gunzip(content, file) : std::move(content);
}

std::vector<std::string> files_of(const std::vector<std::string>& names) {
    std::vector<std::string> files;
    for (const auto& name : names) files.push_back(name.starts_with("sim:") ? name.substr(4) : name);
    return files;
}

std::string schema_of(const std::string& content) {
    const auto json = nlohmann::json::parse(content, nullptr, false);
    return json.is_object() && json.contains("schema") && json["schema"].is_string() ? json["schema"].get<std::string>()
                                                                                     : "";
}

machine::Machine machine_in(const std::string& file) {
    const auto content = content_of(file, "a machine description");
    return schema_of(content) == scan::kScanSchema ? scan::describe(scan::scan_from_json(content, file))
                                                   : machine::from_json(content, file);
}

machine::Machine machine_named(const std::string& given) {
    if (std::filesystem::exists(given)) return machine_in(given);
    const auto name = with_prefix(given);
    if (name.starts_with("sim:")) return simulated_machine(name);
    const bool is_file = std::filesystem::path(given).has_extension() || given.find('/') != std::string::npos;
    return is_file ? machine_in(given) : simulated_machine("sim:" + given);
}

}  // namespace gputomo::cli
