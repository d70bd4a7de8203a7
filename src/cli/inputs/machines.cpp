#include "cli/inputs/machines.hpp"

#include "cli/inputs/devices.hpp"
#include "machine/json.hpp"
#include "scan/files.hpp"
#include "scan/gzip.hpp"
#include "scan/runner.hpp"
#include "units/file.hpp"

#include <nlohmann/json.hpp>

namespace gputomo::cli {

std::string content_of(const std::string& file, std::string_view expected) {
    auto content = read_file(file, expected);
    return scan::is_gzip(content) ? scan::gunzip(content, file) : content;
}

std::string schema_of(const std::string& content) {
    const auto json = nlohmann::json::parse(content, nullptr, false);
    return json.is_object() && json.contains("schema") && json["schema"].is_string() ? json["schema"].get<std::string>()
                                                                                     : "";
}

machine::Machine machine_named(const std::string& name) {
    if (name.starts_with("sim:")) return simulated_machine(name);
    const auto content = content_of(name, "a machine description");
    return schema_of(content) == scan::kScanSchema ? scan::describe(scan::scan_from_json(content, name))
                                                   : machine::from_json(content, name);
}

}  // namespace gputomo::cli
