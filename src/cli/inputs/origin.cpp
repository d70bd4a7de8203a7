#include "cli/inputs/origin.hpp"

#include "cli/terminal/messages.hpp"
#include "cli/terminal/version.hpp"
#include "machine/origin_json.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

namespace gputomo::cli {
namespace {

/// The text as UTF-8, which JSON needs; names of files may hold any bytes. Bytes that are none become U+FFFD.
std::string utf8(const std::string& text) {
    using Json = nlohmann::ordered_json;
    return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

/// One argument as a shell would take it: in quotes where it has other than harmless characters.
std::string shell_word(const std::string& argument) {
    constexpr std::string_view kHarmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%[]";
    if (!argument.empty() && argument.find_first_not_of(kHarmless) == std::string::npos) return argument;
    std::string text = "'";
    for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

/// The command line as the system keeps it (proc(5)): arguments that each end with a NUL.
std::string command_line() {
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    std::string text;
    for (std::string argument; std::getline(in, argument, '\0');)
        text += (text.empty() ? "" : " ") + shell_word(argument);
    return text;
}

/// Read before main(), because some commands ask for the date after they have measured.
const std::time_t kStartTime = std::time(nullptr);

std::time_t seconds_at_start() {
    const char* const fixed = std::getenv("SOURCE_DATE_EPOCH");
    if (fixed == nullptr) return kStartTime;
    const std::string_view text = fixed;
    constexpr std::int64_t kLast = 253402300799;  // the last second of the year 9999
    std::int64_t seconds = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc{} || end != text.data() + text.size() || seconds < 0 || seconds > kLast)
        throw InputError(
            fmt::format("SOURCE_DATE_EPOCH={}: expected seconds since 1970, a whole number of 0 or more", text));
    return seconds;
}

std::string utc(std::time_t seconds) {
    std::tm parts{};
    std::array<char, 32> text{};
    gmtime_r(&seconds, &parts);
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

results::State state_of(const device::ClockState& state) {
    results::State named;
    const auto add = [&](const char* name, const auto& value) {
        if (value) named.emplace_back(name, *value);
    };
    add("sm_mhz", state.sm_mhz);
    add("memory_mhz", state.memory_mhz);
    add("temperature_celsius", state.temperature_celsius);
    add("power_watt", state.power_watt);
    add("throttle_reasons", state.throttle_reasons);
    add("ecc", state.ecc);
    add("ecc_uncorrected", state.ecc_uncorrected);
    if (state.other_processes) named.emplace_back("other_processes", std::int64_t{*state.other_processes});
    return named;
}

}  // namespace

results::Origin origin_of_command() {
    return {.version = std::string(version()),
            .commit = std::string(commit()),
            .command = utf8(command_line()),
            .date = utc(seconds_at_start()),
            .gpu = {},
            .merged = {}};
}

results::Origin origin_on(const device::Device& device) {
    auto origin = origin_of_command();
    const auto found = device.identification();
    origin.gpu = {.name = device.name(),
                  .device = utf8(device.id()),
                  .uuid = device.uuid(),
                  .pci_bus_id = found.pci_bus_id,
                  .driver = found.driver,
                  .cuda = found.cuda,
                  .description = found.description,
                  .before = state_of(device.clock_state()),
                  .after = {}};
    return origin;
}

void add_state_after(results::Origin& origin, const device::Device& device) {
    if (origin.gpu) origin.gpu->after = state_of(device.clock_state());
}

void print_json(nlohmann::ordered_json document, const results::Origin& origin) {
    machine::add_origin(document, origin);
    out::print_json_text(document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace gputomo::cli
