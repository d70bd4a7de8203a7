#include "results/trace.hpp"

#include <algorithm>
#include <stdexcept>

namespace gputomo::results {

void Trace::add_row(std::span<const double> row) {
    if (row.size() != columns.size())
        throw std::logic_error("trace " + name + ": found a row of " + std::to_string(row.size()) +
                               " numbers; expected one for each of its " + std::to_string(columns.size()) + " columns");
    for (std::size_t i = 0; i < row.size(); ++i) columns[i].values.push_back(row[i]);
}

const Trace::Column* Trace::column(std::string_view column_name) const {
    const auto found = std::ranges::find(columns, column_name, &Column::name);
    return found == columns.end() ? nullptr : &*found;
}

}  // namespace gputomo::results
