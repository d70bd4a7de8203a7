// The roofline of a launch: all ceilings of the description, and the launch at each level of memory.
#include "answer/rates.hpp"
#include "pages/parts.hpp"
#include "report/parts/quantities.hpp"
#include "report/parts/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

namespace gputomo::pages {
namespace {

using answer::Answer;
using report::escaped;

constexpr double kHeight = 360;
/// Ceilings this close to each other are one line.
constexpr double kSame = 0.01;

struct Ceiling {
    std::string name;
    double per_second = 0;
};
/// Where the launch is, by the bytes of one way.
struct Point {
    std::string name;
    double intensity = 0;
};

class Roofline {
public:
    Roofline(const Answer& a, const machine::Machine* machine) : flop_(a.roofline.flop_per_second.value_or(0)) {
        std::map<std::string, double> compute;
        if (machine != nullptr)
            for (const char* const type : {"f64", "f32", "f16", "bf16"})
                if (const auto ceiling = answer::flop_ceiling(*machine, type)) compute[type] = *ceiling;
        if (machine != nullptr)
            for (const auto& rate : report::tensor_rates(report::Facts(*machine)))
                if (rate.of_all && rate.unit() == "FLOP") {
                    const auto instruction = rate.instruction.substr(0, rate.instruction.find('.'));
                    compute[fmt::format("{} tensor ({})", rate.type, instruction)] = *rate.of_all;
                }
        for (const auto& rate : a.flop_rates)
            if (rate.ceiling) compute[rate.what] = *rate.ceiling, used_.push_back(rate.what);
        for (const auto& [type, ceiling] : compute) {
            const auto same = std::ranges::find_if(compute_, [ceiling = ceiling](const Ceiling& other) {
                return std::abs(other.per_second / ceiling - 1) < kSame;
            });
            if (same == compute_.end())
                compute_.push_back({type, ceiling});
            else
                same->name += ", " + type;
        }
        for (const auto& rate : a.byte_rates) {
            const bool to_memory = rate.what.find(" to ") != std::string::npos;
            if (rate.ceiling && !to_memory) memory_.push_back({rate.what, *rate.ceiling});
            if (rate.per_second > 0 && !to_memory) points_.push_back({rate.what, flop_ / rate.per_second});
        }
        if (a.roofline.flop_per_byte) points_.push_back({"DRAM, both ways", *a.roofline.flop_per_byte});
    }

    [[nodiscard]] bool has_launch() const { return flop_ > 0 && !points_.empty(); }
    [[nodiscard]] bool has_ceilings() const { return !compute_.empty() && !memory_.empty(); }

    [[nodiscard]] std::string svg(double width) {
        find_ranges();
        width_ = width;
        std::string out =
            fmt::format("<svg class=roofline viewBox='0 0 {:.0f} {:.0f}' role=img aria-label='Roofline of the launch'>",
                        width, kHeight);
        out += axes();
        const double highest = std::ranges::max_element(compute_, {}, &Ceiling::per_second)->per_second;
        int number = 0;
        for (const auto& way : memory_) {
            // Up to where the way meets the highest ceiling of arithmetic.
            const double from = std::max(low_x_, low_y_ / way.per_second),
                         to = std::min(high_x_, highest / way.per_second);
            out += line(from, from * way.per_second, to, to * way.per_second, "memory");
            const double at = from * std::pow(to / from, 0.6);
            out += badge(x(at), y(at * way.per_second), ++number);
        }
        const double fastest = std::ranges::max_element(memory_, {}, &Ceiling::per_second)->per_second;
        for (const auto& ceiling : compute_) {
            out += line(std::max(low_x_, ceiling.per_second / fastest), ceiling.per_second, high_x_, ceiling.per_second,
                        "compute");
            const double aside = 12.0 + 18 * (number - static_cast<int>(memory_.size()));
            out += badge(width_ - kRight - aside, y(ceiling.per_second), ++number);
        }
        char letter = 'a';
        for (const auto& point : points_) {
            // Dots that lie close to each other have their letters at different heights.
            const double above = (letter - 'a') % 2 == 0 ? -9 : 18;
            out += fmt::format(
                "<circle cx='{0:.1f}' cy='{1:.1f}' r=5><title>{2}: {3:.3g} FLOP for each byte, {4}</title></circle>"
                "<text class=name x='{0:.1f}' y='{5:.1f}' text-anchor=middle>{6}</text>",
                x(point.intensity), y(flop_), escaped(point.name), point.intensity, quantity(flop_, "FLOP/s"),
                y(flop_) + above, letter++);
        }
        return out + "</svg>";
    }

    /// What the numbers in the picture mean.
    [[nodiscard]] std::string key() const {
        std::string out = "<ol class=ceilings>";
        for (const auto& way : memory_)
            out += fmt::format("<li>{}: {}</li>", escaped(way.name), quantity(way.per_second, "B/s"));
        for (const auto& ceiling : compute_)
            out += fmt::format("<li>{}: {}</li>", escaped(ceiling.name), quantity(ceiling.per_second, "FLOP/s"));
        return out + "</ol>";
    }

    [[nodiscard]] std::string caption() const {
        std::string out =
            fmt::format("The launch computes {}. Its dots, by the bytes of each way:", quantity(flop_, "FLOP/s"));
        char letter = 'a';
        for (const auto& point : points_)
            out += fmt::format(" {}: {}, {:.3g} FLOP for each byte{}", letter++, escaped(point.name), point.intensity,
                               &point == &points_.back() ? "." : ";");
        return out;
    }

    /// The ceiling that is nearest above the launch: that of a way, for the bytes of its dot, or that of arithmetic.
    [[nodiscard]] std::string finding() const {
        std::string nearest;
        double least = std::numeric_limits<double>::infinity();
        const auto look = [&](const std::string& name, double ceiling) {
            if (ceiling > 0 && ceiling < least) least = ceiling, nearest = name;
        };
        for (const auto& point : points_)
            for (const auto& way : memory_)
                if (way.name == point.name) look(way.name, point.intensity * way.per_second);
        for (const auto& ceiling : compute_)
            if (std::ranges::any_of(used_, [&](const auto& type) { return lists(ceiling.name, type); }))
                look(ceiling.name, ceiling.per_second);
        if (nearest.empty()) return {};
        return fmt::format("<p class=finding>{} of its nearest ceiling, {}: {} of {}</p>", percent(flop_ / least),
                           escaped(nearest), quantity(flop_, "FLOP/s"), quantity(least, "FLOP/s"));
    }

private:
    /// Whether the names, separated by commas, hold this one.
    static bool lists(const std::string& names, const std::string& one) {
        return (", " + names + ", ").find(", " + one + ", ") != std::string::npos;
    }
    static constexpr double kLeft = 44, kRight = 8, kTop = 14, kBottom = 34;

    void find_ranges() {
        low_x_ = low_y_ = std::numeric_limits<double>::infinity();
        high_x_ = high_y_ = 0;
        const auto reach_x = [&](double value) {
            low_x_ = std::min(low_x_, value), high_x_ = std::max(high_x_, value);
        };
        for (const auto& ceiling : compute_) {
            high_y_ = std::max(high_y_, ceiling.per_second);
            low_y_ = std::min(low_y_, ceiling.per_second);
            for (const auto& way : memory_) reach_x(ceiling.per_second / way.per_second);
        }
        for (const auto& point : points_) reach_x(point.intensity);
        low_y_ = std::min(low_y_ / 30, flop_ / 3);
        high_y_ *= 2.5;
        low_x_ /= 4, high_x_ *= 4;
    }

    [[nodiscard]] double x(double value) const {
        return kLeft + std::log(value / low_x_) / std::log(high_x_ / low_x_) * (width_ - kLeft - kRight);
    }
    [[nodiscard]] double y(double value) const {
        return kHeight - kBottom - std::log(value / low_y_) / std::log(high_y_ / low_y_) * (kHeight - kTop - kBottom);
    }
    [[nodiscard]] std::string line(double x1, double y1, double x2, double y2, std::string_view style) const {
        return fmt::format("<line class={} x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}'/>", style, x(x1), y(y1),
                           x(x2), y(y2));
    }
    static std::string badge(double at_x, double at_y, int number) {
        return fmt::format(
            "<g class=badge><rect x='{:.1f}' y='{:.1f}' width=16 height=14 rx=3 /><text x='{:.1f}' y='{:.1f}' "
            "text-anchor=middle>{}</text></g>",
            at_x - 8, at_y - 7, at_x, at_y + 4, number);
    }
    static std::string text(double at_x, double at_y, const std::string& words, std::string_view anchor) {
        return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor={}>{}</text>", at_x, at_y, anchor, escaped(words));
    }

    [[nodiscard]] std::string axes() const {
        std::string out;
        // Powers of ten, as many as there is room for.
        const auto step = [](double low, double high, int most) {
            return std::max(1, static_cast<int>(std::ceil(std::log10(high / low) / most)));
        };
        const int step_x = step(low_x_, high_x_, 6), step_y = step(low_y_, high_y_, 5);
        for (int e = static_cast<int>(std::ceil(std::log10(low_x_))); std::pow(10, e) <= high_x_; e += step_x) {
            const double at = x(std::pow(10, e));
            out += fmt::format("<line class=grid x1='{0:.1f}' x2='{0:.1f}' y1='{1}' y2='{2}'/>", at, kTop,
                               kHeight - kBottom);
            out += text(at, kHeight - kBottom + 14, fmt::format("{:g}", std::pow(10, e)),
                        at > width_ - 2 * kLeft ? "end" : "middle");
        }
        for (int e = static_cast<int>(std::ceil(std::log10(low_y_))); std::pow(10, e) <= high_y_; e += step_y) {
            const double at = y(std::pow(10, e));
            out += fmt::format("<line class=grid x1='{}' x2='{:.0f}' y1='{:.1f}' y2='{:.1f}'/>", kLeft, width_ - kRight,
                               at, at);
            out += text(kLeft - 4, at + 4, quantity(std::pow(10, e), ""), "end");
        }
        out += text((kLeft + width_) / 2, kHeight - 4, "FLOP for each byte", "middle");
        return out + text(2, kTop - 3, "FLOP/s", "start");
    }

    double flop_;
    std::vector<Ceiling> compute_, memory_;
    std::vector<Point> points_;
    std::vector<std::string> used_;  ///< types that the launch computes in
    double low_x_ = 0, high_x_ = 0, low_y_ = 0, high_y_ = 0, width_ = 0;
};

}  // namespace

std::string roofline(const Answer& a, const machine::Machine* machine) {
    Roofline picture(a, machine);
    const auto table = rates(a);
    if (!picture.has_launch() || !picture.has_ceilings()) {
        if (table.empty()) return {};
        const bool computes = a.roofline.flop_per_second.value_or(0) > 0;
        return fmt::format(
            "<p class=m>{}, so that there is no roofline.</p>{}",
            computes ? "No bytes are read from L1, L2 or DRAM" : "No operations of floating-point numbers were counted",
            table);
    }
    return fmt::format(
        "{}<figure><div class=wide>{}</div><div class=narrow>{}</div>{}<figcaption>{}</figcaption></figure>{}",
        picture.finding(), picture.svg(kWidePicture), picture.svg(kNarrowPicture), picture.key(), picture.caption(),
        table);
}

}  // namespace gputomo::pages
