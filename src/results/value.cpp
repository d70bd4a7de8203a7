#include "results/value.hpp"

namespace gputomo::results {

std::optional<double> as_number(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return std::nullopt;
}

}  // namespace gputomo::results
