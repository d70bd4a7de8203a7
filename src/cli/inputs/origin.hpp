// Where and when this command runs, for the outputs that it writes.
#pragma once

#include "device/device.hpp"
#include "results/origin.hpp"

#include <nlohmann/json_fwd.hpp>

namespace gputomo::cli {

/// Version, commit, command line and the date at which the program started. The environment variable
/// SOURCE_DATE_EPOCH, in seconds since 1970, replaces the date, so that outputs can be compared byte by byte. Throws
/// InputError where it is no such number.
[[nodiscard]] results::Origin origin_of_command();

/// Returns origin_of_command() with the device and its state now, before a measurement.
[[nodiscard]] results::Origin origin_on(const device::Device& device);

/// Adds the state of the device now, after the measurement.
void add_state_after(results::Origin& origin, const device::Device& device);

/// Prints a JSON document with its origin to standard output.
void print_json(nlohmann::ordered_json document, const results::Origin& origin);

}  // namespace gputomo::cli
