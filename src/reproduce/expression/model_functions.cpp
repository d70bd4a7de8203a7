#include "reproduce/expression/model_functions.hpp"

#include "models/model.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gputomo::reproduce {
namespace {

/// Lengths of PARAMETERS with each of their parts.
constexpr std::size_t kBasic = 5, kWithBandwidth = 8, kWithTransactions = 9, kWithContention = 10;

template <class T>
const T& argument(std::span<const Value> arguments, std::size_t index, std::string_view expected) {
    if (const auto* held = std::get_if<T>(&arguments[index])) return *held;
    throw InputError(fmt::format("found {1} ({2}) as argument {0} of a model; expected {3}", index + 1,
                                 kind_of(arguments[index]), text_of(arguments[index]), expected));
}

/// Contention adds the base and pairs of a slope and a limit behind the others.
bool has_contention(const std::vector<double>& list) {
    return list.size() >= kWithContention + 2 && list.size() % 2 == 0;
}

models::Contention contention(const std::vector<double>& list) {
    models::Contention found{.base = list[kWithTransactions], .terms = {}};
    for (std::size_t i = kWithContention; i < list.size(); i += 2) found.terms.push_back({list[i], list[i + 1]});
    return found;
}

models::Parameters parameters(std::span<const Value> arguments) {
    const auto& list = argument<std::vector<double>>(arguments, 1, "a list of numbers");
    if (list.size() != kBasic && list.size() != kWithBandwidth && list.size() != kWithTransactions &&
        !has_contention(list))
        throw InputError(
            fmt::format("a model with {} parameters; expected {}, {} with SMs, clock and pin bandwidth, {} with "
                        "transactions, or 12, 14, ... with contention",
                        list.size(), kBasic, kWithBandwidth, kWithTransactions));
    models::Parameters p;
    p.memory = {list[0], list[1]};
    p.arithmetic = {list[2], list[3]};
    p.issue_throughput = list[4];
    if (list.size() >= kWithBandwidth) {
        p.sms = static_cast<int>(list[5]);
        p.clock_ghz = list[6];
        p.pin_bandwidth = list[7];
    }
    if (list.size() >= kWithTransactions) p.transactions = list[8];
    if (has_contention(list)) p.contention = contention(list);
    return p;
}

models::Mix mix(std::span<const Value> arguments) {
    return {.alpha = argument<double>(arguments, 2, "a number"), .ilp = 1};
}
const models::Model& model_of(std::span<const Value> arguments) {
    return models::find_model(argument<std::string>(arguments, 0, "the id of a model"));
}

}  // namespace

Value model_value(std::span<const Value> arguments) {
    const auto solution = models::solve(model_of(arguments), parameters(arguments), mix(arguments),
                                        argument<double>(arguments, 3, "a number of warps"));
    if (arguments.size() < 5) return solution.instructions_per_cycle;
    try {
        return solution.term(argument<std::string>(arguments, 4, "the name of a quantity"));
    } catch (const std::out_of_range& error) {
        throw InputError(error.what());
    }
}

Value model_needed_warps(std::span<const Value> arguments) {
    const auto& model = model_of(arguments);
    if (const auto warps = models::needed_warps(model, parameters(arguments), mix(arguments))) return *warps;
    throw InputError(fmt::format("model '{}' has no formula for the warps that are needed", model.id));
}

}  // namespace gputomo::reproduce
