#include "deduce/memory/contention_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace gputomo::deduce {
namespace {

/// The grid of limits c, in units of the largest throughput. Its lower end must lie above 1, where the formula has its
/// pole. At the upper end, latency is nearly linear in throughput and a larger c would change the fit little.
constexpr double kNearest = 1.0005, kFarthest = 3;
/// Grid points, spaced geometrically in c - 1: latency depends on c most strongly near the pole.
constexpr int kLimits = 600;
/// The intervals hold the fits whose squared error is at most 1 + kAsGood / (samples - 3) times the smallest: two
/// standard errors of a coefficient, squared.
constexpr double kAsGood = 4;

struct Line {
    double limit = 0, a = 0, b = 0, error = 0;
};

/// Weighted least squares of latency = a + b q at q = x / (c - x).
Line line_at(double limit, std::span<const LoadedLatency> samples) {
    double w = 0, wq = 0, wqq = 0, wl = 0, wql = 0;
    for (const auto& [x, latency] : samples) {
        const double weight = 1 / (latency * latency), q = x / (limit - x);
        w += weight, wq += weight * q, wqq += weight * q * q, wl += weight * latency, wql += weight * q * latency;
    }
    const double determinant = w * wqq - wq * wq;
    Line line{.limit = limit};
    line.b = (w * wql - wq * wl) / determinant;
    line.a = (wl - line.b * wq) / w;
    for (const auto& [x, latency] : samples)
        line.error += std::pow((line.a + line.b * x / (limit - x)) / latency - 1, 2);
    return line;
}

}  // namespace

std::optional<ContentionFit> fit_contention(std::span<const LoadedLatency> samples) {
    constexpr std::size_t kLeast = 4;  // one more than there are coefficients
    if (samples.size() < kLeast) return std::nullopt;
    const double largest = std::ranges::max(samples, {}, &LoadedLatency::throughput).throughput;
    std::vector<Line> lines;
    for (int i = 0; i <= kLimits; ++i)
        lines.push_back(line_at(
            largest * (1 + (kNearest - 1) * std::pow((kFarthest - 1) / (kNearest - 1), i / double{kLimits})), samples));
    const Line best = std::ranges::min(lines, {}, &Line::error);
    if (!(best.b > 0)) return std::nullopt;
    ContentionFit fit{
        .a = {best.a, {best.a, best.a}}, .b = {best.b, {best.b, best.b}}, .c = {best.limit, {best.limit, best.limit}}};
    const double tolerated = best.error * (1 + kAsGood / static_cast<double>(samples.size() - 3));
    const auto widen = [](ContentionFit::Coefficient& coefficient, double value) {
        coefficient.interval = {std::min(coefficient.interval[0], value), std::max(coefficient.interval[1], value)};
    };
    for (const Line& line : lines)
        if (line.error <= tolerated) widen(fit.a, line.a), widen(fit.b, line.b), widen(fit.c, line.limit);
    for (const auto& [x, latency] : samples)
        fit.largest_error =
            std::max(fit.largest_error, std::abs((best.a + best.b * x / (best.limit - x)) / latency - 1));
    return fit;
}

}  // namespace gputomo::deduce
