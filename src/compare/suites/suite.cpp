#include "compare/suites/suite.hpp"

#include "files/json_node.hpp"
#include "units/error.hpp"
#include "units/file.hpp"
#include "units/json_text.hpp"
#include "units/sha256.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace gputomo::compare {
namespace {

using files::Json;
using files::JsonNode;

constexpr std::size_t kHashDigits = 12;

std::array<std::uint32_t, 3> sizes_of(const JsonNode& node) {
    const auto elements = node.elements();
    if (elements.size() != 3) node.fail("three numbers");
    std::array<std::uint32_t, 3> sizes{};
    std::ranges::transform(elements, sizes.begin(),
                           [](const JsonNode& size) { return static_cast<std::uint32_t>(size.natural()); });
    return sizes;
}

SuiteEntry entry_of(const JsonNode& node, const JsonNode& measured) {
    SuiteEntry entry;
    entry.name = node.at("name").text();
    entry.program = node.at("program").text();
    entry.kernel = node.at("kernel").text();
    entry.grid = sizes_of(node.at("grid"));
    entry.block = sizes_of(node.at("block"));
    const auto traits = node.at("traits").texts();
    entry.async = std::ranges::find(traits, "async") != traits.end();
    const auto counters = measured.at("counters");
    for (const auto& [name, value] : counters.json().items()) entry.counters[name] = counters.at(name).number();
    if (!(entry.counters[kCyclesCounter] > 0)) counters.fail(fmt::format("the counter {}", kCyclesCounter));
    return entry;
}

}  // namespace

std::vector<SuiteEntry> read_suite(const std::filesystem::path& file, const std::string& gpu, bool held_out) {
    return suite_of(read_file(file, "a suite"), file.string(), gpu, held_out);
}

std::vector<SuiteEntry> suite_of(std::string_view text, const std::string& origin, const std::string& gpu,
                                 bool held_out) {
    const auto json = parse_json<Json>(text, origin, "a suite");
    const JsonNode node(json, origin);
    if (node.at("schema").text() != "gputomo-suite-1") node.at("schema").fail("\"gputomo-suite-1\"");
    std::vector<SuiteEntry> entries;
    for (const auto& element : node.at("entries").elements()) {
        const auto measured = element.at("measured").find(gpu);
        if (!measured) continue;
        entries.push_back(entry_of(element, *measured));
        entries.back().suite = node.at("suite").text();
        entries.back().held_out = held_out;
    }
    return entries;
}

std::filesystem::path capture_folder(const std::filesystem::path& captures, const SuiteEntry& entry) {
    return captures / entry.suite / entry.program / sha256(entry.kernel).substr(0, kHashDigits);
}

const capture::Launch& launch_of(const capture::Capture& capture, const SuiteEntry& entry) {
    for (const auto& launch : capture.launches) {
        if (!launch.kernel || !launch.buffers) continue;
        const auto& shape = *launch.kernel;
        if (capture.kernels[static_cast<std::size_t>(shape.kernel)].name == entry.kernel && shape.grid == entry.grid &&
            shape.block == entry.block)
            return launch;
    }
    throw InputError(
        fmt::format("{}: no launch with memory of the entry's kernel, grid and block", capture.folder.string()));
}

}  // namespace gputomo::compare
