#include "answer/operations/flop.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>
#include <vector>

namespace gputomo::answer {
namespace {

using std::string_view;

/// Warps that execute one product of a warpgroup together.
constexpr double kWarpsOfGroup = 4;

std::vector<string_view> split(string_view text, char at) {
    std::vector<string_view> parts;
    while (true) {
        const auto end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

/// The name with its modifiers, and the operands: "FFMA.FTZ" and "R1, R2, R3, R4".
std::pair<string_view, string_view> name_and_operands(string_view text) {
    if (text.starts_with('@')) text.remove_prefix(std::min(text.size(), text.find(' ') + 1));
    const auto end = text.find(' ');
    return {text.substr(0, end), end == string_view::npos ? "" : text.substr(end + 1)};
}

/// Products of a matrix of m x k and one of k x n, by the digits that name their shape without a separator.
struct Shape {
    string_view name;
    double m, n, k;
};
constexpr Shape kShapes[] = {{"884", 8, 8, 4},     {"8816", 8, 8, 16},     {"8832", 8, 8, 32},    {"1684", 16, 8, 4},
                             {"1688", 16, 8, 8},   {"16816", 16, 8, 16},   {"16832", 16, 8, 32},  {"16864", 16, 8, 64},
                             {"88128", 8, 8, 128}, {"168128", 16, 8, 128}, {"168256", 16, 8, 256}};

std::optional<double> number_in(string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> product_of(string_view modifier) {
    for (const auto& shape : kShapes)
        if (shape.name == modifier) return 2 * shape.m * shape.n * shape.k;
    const auto parts = split(modifier, 'x');
    if (parts.size() != 3) return {};
    double product = 2;
    for (const auto part : parts) {
        const auto size = number_in(part);
        if (!size) return {};
        product *= *size;
    }
    return product;
}

/// What the tensor cores multiply.
std::string type_of(string_view name, const std::vector<string_view>& modifiers) {
    if (name.starts_with("IMMA") || name.starts_with("IGMMA")) return "tensor i8";
    if (name.starts_with("BMMA") || name.starts_with("BGMMA")) return "tensor b1";
    if (name.starts_with("QMMA") || name.starts_with("QGMMA")) return "tensor f8";
    if (name.starts_with("DMMA")) return "tensor f64";
    for (const auto modifier : modifiers) {
        if (modifier == "BF16") return "tensor bf16";
        if (modifier == "TF32") return "tensor tf32";
    }
    return "tensor f16";
}

/// "HFMA2.MMA R1, -RZ, RZ, 1.875, 0" moves a constant.
bool moves_constant(string_view operands) {
    const auto parts = split(operands, ',');
    const auto is_zero = [&](std::size_t i) { return i < parts.size() && parts[i].find("RZ") != string_view::npos; };
    return is_zero(1) && is_zero(2);
}

}  // namespace

std::optional<StepFlop> flop_of(string_view instruction) {
    const auto [full, operands] = name_and_operands(instruction);
    auto modifiers = split(full, '.');
    const auto name = modifiers.front();
    modifiers.erase(modifiers.begin());
    const auto has = [&](string_view wanted) {
        for (const auto modifier : modifiers)
            if (modifier == wanted) return true;
        return false;
    };
    if (name.ends_with("MMA") && !name.ends_with("FMA")) {
        // Half of the elements of a sparse A are not multiplied.
        const double parts = (name.ends_with("GMMA") ? kWarpsOfGroup : 1) * (has("SP") ? 2 : 1);
        for (const auto modifier : modifiers)
            if (const auto product = product_of(modifier))
                return StepFlop{.type = type_of(name, modifiers), .of_thread = 0, .of_warp = *product / parts};
        return {};
    }
    constexpr std::array<std::pair<string_view, double>, 13> kScalar{{{"FADD", 1},
                                                                      {"FMUL", 1},
                                                                      {"FFMA", 2},
                                                                      {"FADD32I", 1},
                                                                      {"FMUL32I", 1},
                                                                      {"FFMA32I", 2},
                                                                      {"FSWZADD", 1},
                                                                      {"DADD", 1},
                                                                      {"DMUL", 1},
                                                                      {"DFMA", 2},
                                                                      {"HADD2", 2},
                                                                      {"HMUL2", 2},
                                                                      {"HFMA2", 4}}};
    for (const auto& [known, flop] : kScalar) {
        if (known != name) continue;
        if (name.starts_with('F')) return StepFlop{.type = "f32", .of_thread = flop, .of_warp = 0};
        if (name.starts_with('D')) return StepFlop{.type = "f64", .of_thread = flop, .of_warp = 0};
        // HADD2.F32 makes a half a single-precision number.
        if (has("F32") || moves_constant(operands)) return {};
        return StepFlop{.type = has("BF16_V2") || has("BF16") ? "bf16" : "f16", .of_thread = flop, .of_warp = 0};
    }
    return {};
}

std::map<std::string, double> flop_of(const launch::LaunchProfile& profile) {
    std::map<std::string, double> flop;
    const auto blocks = static_cast<double>(profile.blocks);
    for (std::size_t at = 0; at < profile.steps.size(); ++at) {
        if (profile.executed[at] == 0) continue;
        if (const auto one = flop_of(profile.steps[at].text))
            flop[one->type] += blocks * (one->of_thread * profile.threads[at] + one->of_warp * profile.executed[at]);
    }
    return flop;
}

double matrix_flop_per_cycle(const launch::LaunchProfile& profile, string_view type, double schedulers) {
    double flop = 0, cycles = 0;
    for (std::size_t at = 0; at < profile.steps.size(); ++at) {
        const auto& step = profile.steps[at];
        const auto one = profile.executed[at] > 0 ? flop_of(step.text) : std::nullopt;
        if (!one || one->type != type || step.unit < 0) continue;
        flop += one->of_warp * profile.executed[at];
        const bool of_sm = profile.units[static_cast<std::size_t>(step.unit)].of_sm;
        cycles += step.interval * profile.executed[at] / (of_sm ? 1 : schedulers);
    }
    return cycles > 0 ? flop / cycles : 0;
}

}  // namespace gputomo::answer
