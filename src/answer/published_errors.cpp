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

/// The cells of one row by the names of their columns.
class Cells {
public:
    Cells(const nlohmann::json& table, const nlohmann::json& row) : table_(table), row_(row) {}
    [[nodiscard]] std::string operator()(std::string_view name) const {
        const auto columns = table_.at("columns").get<std::vector<std::string>>();
        const auto found = std::ranges::find(columns, name);
        if (found == columns.end())
            throw std::logic_error(fmt::format("docs/results/accuracy.json: no column '{}'", name));
        return row_.at(static_cast<std::size_t>(found - columns.begin())).get<std::string>();
    }

private:
    const nlohmann::json& table_;
    const nlohmann::json& row_;
};

const nlohmann::json& published_tables() {
    static const auto published = nlohmann::json::parse(published_accuracy());
    return published.at("tables");
}

std::vector<PublishedError> read_published() {
    std::vector<PublishedError> rows;
    for (const auto& table : published_tables()) {
        if (!table.contains("gpu")) continue;
        for (const auto& row : table.at("rows")) {
            const Cells cell(table, row);
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

double worst_factor(std::string_view class_of_kernels, Method method, std::string_view gpu) {
    double worst = 1;
    for (const auto& table : published_tables()) {
        if (!table.contains("own_gpu")) continue;
        for (const auto& row : table.at("rows")) {
            const Cells cell(table, row);
            if (cell("class") != class_of_kernels) continue;
            const double ratio = std::stod(cell(fmt::format("`{}` worst", name_of(method))));
            const double factor = std::max(ratio, 1 / ratio);
            if (gpu.find(table.at("own_gpu").get<std::string>()) != std::string_view::npos) return factor;
            worst = std::max(worst, factor);
        }
    }
    return worst;
}

}  // namespace gputomo::answer
