#include "deduce/memory/partitions.hpp"

#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gputomo::deduce {
namespace {

/// Root mean square residual, in cycles and beyond noise, that a single partition may have. Chosen by hand: two
/// partitions whose latencies differ by hardly more are reported as one.
constexpr double kEven = 1.5;
/// Two partitions must explain this share of the mean square residual; below it the answer is left undecided.
constexpr double kExplained = 0.5;
/// Power iterations, more than enough: two partitions make one singular value far larger than the others.
constexpr int kIterations = 64;

void check(const LatencyMap& map, std::size_t rows, std::size_t columns) {
    if (map.empty() || map.front().empty() || map.size() != rows)
        throw std::invalid_argument("find_partitions: the maps are empty or have different numbers of rows");
    for (const auto& row : map)
        if (row.size() != columns) throw std::invalid_argument("find_partitions: rows have different lengths");
}

LatencyMap mean_of(const LatencyMap& a, const LatencyMap& b) {
    LatencyMap mean = a;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a[i].size(); ++j) mean[i][j] = (a[i][j] + b[i][j]) / 2;
    return mean;
}

/// Residuals: each value less the mean of its row and the mean of its column.
LatencyMap centred(LatencyMap map) {
    const std::size_t rows = map.size(), columns = map.front().size();
    std::vector<double> of_row(rows, 0), of_column(columns, 0);
    double all = 0;
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) {
            of_row[i] += map[i][j] / static_cast<double>(columns);
            of_column[j] += map[i][j] / static_cast<double>(rows);
            all += map[i][j] / static_cast<double>(rows * columns);
        }
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) map[i][j] += all - of_row[i] - of_column[j];
    return map;
}

double mean_square(const LatencyMap& map) {
    double sum = 0;
    for (const auto& row : map)
        for (const double value : row) sum += value * value;
    return sum / static_cast<double>(map.size() * map.front().size());
}

/// The best rank-1 approximation of a map: the outer product of `rows` and `columns`, of which `columns` is normalised.
struct Product {
    std::vector<double> rows, columns;
};

Product rank_one_approximation(const LatencyMap& map) {
    // The iteration starts from the row of the largest norm, which cannot be orthogonal to the solution.
    const auto square = [](const std::vector<double>& row) {
        double sum = 0;
        for (const double value : row) sum += value * value;
        return sum;
    };
    Product product{std::vector<double>(map.size(), 0), *std::ranges::max_element(map, {}, square)};
    for (int i = 0; i < kIterations; ++i) {
        const double length = std::sqrt(square(product.columns));
        if (length == 0) break;
        for (auto& value : product.columns) value /= length;
        for (std::size_t r = 0; r < map.size(); ++r) {
            product.rows[r] = 0;
            for (std::size_t c = 0; c < product.columns.size(); ++c) product.rows[r] += map[r][c] * product.columns[c];
        }
        if (i + 1 == kIterations) break;
        for (std::size_t c = 0; c < product.columns.size(); ++c) {
            product.columns[c] = 0;
            for (std::size_t r = 0; r < map.size(); ++r) product.columns[c] += map[r][c] * product.rows[r];
        }
    }
    return product;
}

std::vector<bool> signs(const std::vector<double>& values) {
    std::vector<bool> above;
    for (const double value : values) above.push_back(value > 0);
    return above;
}

}  // namespace

Partitions find_partitions(const LatencyMap& first, const LatencyMap& second) {
    check(first, second.size(), first.empty() ? 0 : first.front().size());
    check(second, first.size(), first.front().size());
    const LatencyMap mean = mean_of(first, second), left = centred(mean);
    LatencyMap difference = first;
    for (std::size_t i = 0; i < first.size(); ++i)
        for (std::size_t j = 0; j < first[i].size(); ++j) difference[i][j] -= second[i][j];
    const double noise = mean_square(difference) / 4, total = mean_square(left);
    Partitions found;
    if (total <= noise + kEven * kEven) {
        found.count = 1;
        found.why = fmt::format("residuals of {:.2g} cycles after the means of SMs and lines, of which noise is {:.2g}",
                                std::sqrt(total), std::sqrt(noise));
        return found;
    }
    const auto product = rank_one_approximation(left);
    // An SM is nearer to the lines of its own partition, so their residuals are negative: one of the signs is inverted.
    found.of_sm = signs(product.rows);
    found.of_line = signs(product.columns);
    found.of_line.flip();
    std::vector<double> near, far;
    LatencyMap rest = left;
    for (std::size_t i = 0; i < mean.size(); ++i)
        for (std::size_t j = 0; j < mean[i].size(); ++j)
            (found.of_sm[i] == found.of_line[j] ? near : far).push_back(mean[i][j]);
    if (near.empty() || far.empty()) return found;
    found.near = median(near), found.far = median(far);
    for (std::size_t i = 0; i < rest.size(); ++i)
        for (std::size_t j = 0; j < rest[i].size(); ++j)
            rest[i][j] = mean[i][j] - (found.of_sm[i] == found.of_line[j] ? 0 : found.far - found.near);
    const double explained = 1 - mean_square(centred(rest)) / total;
    found.why =
        fmt::format("groups of {} and {} SMs explain {:.0f}% of residuals of {:.3g} cycles: {:.0f} near, {:.0f} far",
                    std::ranges::count(found.of_sm, false), std::ranges::count(found.of_sm, true), 100 * explained,
                    std::sqrt(total), found.near, found.far);
    if (explained >= kExplained) found.count = 2;
    return found;
}

}  // namespace gputomo::deduce
