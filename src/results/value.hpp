// The value of one leaf of the machine description, and how far a leaf is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gputomo::results {

/// The value of any leaf.
using Value = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>, std::vector<double>,
                           std::vector<std::string>>;

/// The number that `value` holds; nullopt for everything but an integer or a real.
[[nodiscard]] std::optional<double> as_number(const Value& value);

/// How far a leaf is known. An estimate of a scan and a field of a machine description share these four states.
enum class Knowledge : std::uint8_t {
    unknown,    ///< nobody looked for it; neither a scan nor a description writes such a leaf
    known,      ///< it has a value, which explains the data while nothing else does nearly as well
    absent,     ///< a search found that the GPU does not have it
    undecided,  ///< a search left several candidates that explain the data equally well
};

}  // namespace gputomo::results
