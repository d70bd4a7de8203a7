#include "answer/published_errors.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace gputomo::answer {
namespace {

/// One row of a published table.
struct PublishedError {
    std::string gpu;     ///< part of the GPU's name
    std::string method;  ///< "predict"
    double error = 0;    ///< of 90% of the kernels, over the measured cycles
    std::string basis;
};

std::vector<PublishedError> read_published() {
    std::vector<PublishedError> rows;
    const auto published = nlohmann::json::parse(published_accuracy());
    for (const auto& table : published.at("tables")) {
        if (!table.contains("gpu")) continue;
        const auto columns = table.at("columns").get<std::vector<std::string>>();
        const auto column = [&](std::string_view name) {
            const auto found = std::ranges::find(columns, name);
            if (found == columns.end())
                throw std::logic_error(fmt::format("docs/results/accuracy.json: no column '{}'", name));
            return static_cast<std::size_t>(found - columns.begin());
        };
        for (const auto& row : table.at("rows")) {
            const auto cell = [&](std::string_view name) { return row.at(column(name)).get<std::string>(); };
            auto method = cell("command");
            std::erase(method, '`');
            const auto error = cell("90th percentile");
            rows.push_back({.gpu = table.at("gpu"),
                            .method = method,
                            .error = std::stod(error) / 100,
                            .basis = fmt::format("90% of {} kernels of other authors on an {} were at most {} off "
                                                 "(docs/results/accuracy.json, {})",
                                                 cell("answered"), table.at("gpu").get<std::string>(), error,
                                                 table.at("date").get<std::string>())});
        }
    }
    return rows;
}

}  // namespace

std::optional<Interval> interval_of(double cycles, Method method, std::string_view gpu) {
    static const auto published = read_published();
    for (const auto& row : published)
        if (row.method == name_of(method) && gpu.find(row.gpu) != std::string_view::npos)
            return Interval{.low = cycles / (1 + row.error), .high = cycles / (1 - row.error), .basis = row.basis};
    return {};
}

}  // namespace gputomo::answer
