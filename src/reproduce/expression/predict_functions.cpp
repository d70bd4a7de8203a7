#include "reproduce/expression/predict_functions.hpp"

#include "machine/paths.hpp"
#include "predict/static/listing.hpp"
#include "predict/static/prediction.hpp"
#include "predict/static/sass_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

namespace gputomo::reproduce {
namespace {

using predict::Prediction;
using Numbers = std::vector<double>;
using Choices = std::span<const Value>;

/// A leaf that only an argument gives: the thesis does not measure it, so it is not read of a scan. With it, loads of
/// random words take more of the memory's time than the bytes of their transactions do.
constexpr std::string_view kOnlyGiven = "memory.fetch_bytes";

/// What the arguments change: what the prediction assumes, and leaves of the scan.
struct Differences {
    predict::Choices choices;
    std::map<std::string, double> leaves;
};

template <class T>
const T& argument_as(const Value& value, std::string_view expected) {
    if (const auto* held = std::get_if<T>(&value)) return *held;
    throw InputError(
        fmt::format("found {} ({}) as an argument of predict; expected {}", kind_of(value), text_of(value), expected));
}

bool accesses_shared(const predict::Code& code, int line) {
    return std::ranges::any_of(code.instructions, [&](const auto& instruction) {
        return instruction.line == line && instruction.access &&
               instruction.access->space == predict::MemorySpace::shared;
    });
}

void add_count(Differences& to, const predict::Code& code, const Value& given, double count) {
    constexpr double kMostLines = 1e6;
    const double line = argument_as<double>(given, "a line of the listing");
    if (!(line >= 1 && line <= kMostLines))
        throw InputError(fmt::format("found line {} as an argument of predict; expected a line of the listing", line));
    auto& access = to.choices.access;
    (accesses_shared(code, static_cast<int>(line)) ? access.ways : access.transactions)[static_cast<int>(line)] = count;
}

void add_leaf(Differences& to, const std::string& path, double value) {
    if (!leaves_of_predictions().contains(path) && path != kOnlyGiven)
        throw InputError(
            fmt::format("found '{}' as an argument of predict; expected a leaf that predictions read", path));
    to.leaves[path] = value;
}

Differences differences_of(Choices given, const predict::Code& code) {
    Differences differences;
    while (!given.empty()) {
        const auto* name = std::get_if<std::string>(&given[0]);
        const auto* number = given.size() > 1 ? std::get_if<double>(&given[1]) : nullptr;
        if (name == nullptr && number == nullptr)
            throw InputError(fmt::format(
                "found {} ({}) alone as an argument of predict; expected 'LABEL', or 'LEAF', NUMBER, or LINE, COUNT",
                kind_of(given[0]), text_of(given[0])));
        if (number == nullptr)
            differences.choices.path.taken.insert(*name);
        else if (name != nullptr)
            add_leaf(differences, *name, *number);
        else
            add_count(differences, code, given[0], *number);
        given = given.subspan(number == nullptr ? 1 : 2);
    }
    return differences;
}

void set_as_given(machine::Machine& machine, const std::string& path, double value) try {
    machine::set_leaf(machine, path, {machine::Knowledge::known, value, {}, {}});
} catch (const std::logic_error& unfit) {
    throw InputError(fmt::format("found {} for {} as an argument of predict: {}", value, path, unfit.what()));
}

machine::Machine machine_of(const scan::Scan& scan, const std::map<std::string, double>& otherwise) {
    machine::Machine machine;
    for (const auto& path : leaves_of_predictions())
        if (const auto* found = scan.findings.find(path)) scan::add_estimate(machine, *found);
    for (const auto& [path, value] : otherwise) set_as_given(machine, path, value);
    return machine;
}

/// Cycles for which a warp occupies the resource; 0 where it does not use it.
double cycles_of(const Prediction& prediction, std::string_view resource) {
    const auto found = std::ranges::find(prediction.worksheet.resources, resource, &predict::ResourceUse::resource);
    return found == prediction.worksheet.resources.end() ? 0 : found->total();
}

Value core_instructions(const Prediction& prediction) {
    double count = 0;
    for (const auto& resource : prediction.worksheet.resources)
        if (resource.resource == name_of(predict::Resource::cores))
            for (const auto& use : resource.uses) count += use.count;
    return count;
}

Value issue_times(const Prediction& prediction) {
    Numbers times;
    std::ranges::copy_if(prediction.issue_times, std::back_inserter(times), [](double time) { return time >= 0; });
    return times;
}

template <class Of>
Value of_points(const Prediction& prediction, Of of) {
    Numbers values;
    for (const auto& point : prediction.points) values.push_back(of(point));
    return values;
}

struct Quantity {
    std::string_view name;
    Value (*of)(const Prediction& prediction);
};

/// Times are in cycles, rates are per cycle and SM, and resources are in cycles per warp.
constexpr std::array kQuantities{
    Quantity{"issue_times", issue_times},  // of the instructions that are issued
    Quantity{"latency", [](const Prediction& p) -> Value { return p.latency; }},
    Quantity{"bound", [](const Prediction& p) -> Value { return p.bound; }},
    Quantity{"limit", [](const Prediction& p) -> Value { return p.limited_by; }},
    Quantity{"needed", [](const Prediction& p) -> Value { return p.needed_warps; }},
    Quantity{"bytes", [](const Prediction& p) -> Value { return p.bytes; }},
    Quantity{"bandwidth", [](const Prediction& p) -> Value { return p.gigabytes_per_second; }},
    Quantity{"instructions",
             [](const Prediction& p) -> Value { return p.work.single_issues + 2 * p.work.dual_issues; }},
    Quantity{"issues", [](const Prediction& p) -> Value { return p.work.issues(); }},
    Quantity{"single_issues", [](const Prediction& p) -> Value { return p.work.single_issues; }},
    Quantity{"dual_issues", [](const Prediction& p) -> Value { return p.work.dual_issues; }},
    Quantity{"reissues", [](const Prediction& p) -> Value { return p.work.reissues; }},
    Quantity{"core_issues", [](const Prediction& p) -> Value { return p.work.core_issues; }},
    Quantity{"core_instructions", core_instructions},
    Quantity{"cores", [](const Prediction& p) -> Value { return cycles_of(p, name_of(predict::Resource::cores)); }},
    Quantity{"sfu", [](const Prediction& p) -> Value { return cycles_of(p, name_of(predict::Resource::sfu)); }},
    Quantity{"shared", [](const Prediction& p) -> Value { return cycles_of(p, name_of(predict::Resource::shared)); }},
    Quantity{"memory", [](const Prediction& p) -> Value { return cycles_of(p, name_of(predict::Resource::memory)); }},
    Quantity{"scheduler", [](const Prediction& p) -> Value { return cycles_of(p, "warp scheduler"); }},
    Quantity{"warps",
             [](const Prediction& p) {
                 return of_points(p, [](const auto& point) { return static_cast<double>(point.warps); });
             }},
    Quantity{"rate",
             [](const Prediction& p) { return of_points(p, [](const auto& point) { return point.warps_per_cycle; }); }},
};

const Quantity* find_quantity(std::string_view name) {
    const auto* found = std::ranges::find(kQuantities, name, &Quantity::name);
    return found == kQuantities.end() ? nullptr : found;
}

}  // namespace

std::string alternatives_to_quantity(std::string_view quantity) {
    if (find_quantity(quantity) != nullptr) return {};
    std::string names;
    for (const auto& known : kQuantities) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", known.name);
    return names;
}

Value predicted_value(const scan::Scan& scan, std::string_view code, std::span<const Value> quantity_and_choices) {
    constexpr std::string_view kListing = "listing", kScan = "scan";
    const auto* quantity =
        find_quantity(argument_as<std::string>(quantity_and_choices.front(), "the name of a quantity"));
    auto listed = predict::code_from_listing(predict::parse_listing(code, kListing), {}, kListing);
    const auto differences = differences_of(quantity_and_choices.subspan(1), listed);
    try {
        return quantity->of(
            predict::predict(std::move(listed), machine_of(scan, differences.leaves), differences.choices, kScan));
    } catch (const InputError& error) {
        const std::string_view what = error.what();
        if (what.starts_with(fmt::format("{}: ", kScan))) throw NotMeasured(error.what());  // a leaf that it needs
        throw;
    }
}

const std::set<std::string>& leaves_of_predictions() {
    static const std::set<std::string> kLeaves = [] {
        std::set<std::string> leaves{"topology.sms", "topology.max_threads_per_sm", "topology.warp_size",
                                     "clock.sm_mhz",
                                     // issue
                                     "issue.schedulers_per_sm", "issue.issue_interval", "issue.ilp_latency",
                                     "issue.dual_issue", "issue.barrier_latency", "issue.branch_latency_taken",
                                     "issue.branch_latency_untaken", "launch.block_replacement",
                                     // memory
                                     "paths.global.memory_latency", "memory.pause_interval", "memory.pause_time",
                                     "paths.global.transaction_cost", "memory.read_bandwidth", "shared.latency",
                                     "shared.warp_latency", "shared.bytes_per_cycle", "shared.conflict_cost",
                                     "shared.banks", "shared.bank_width", "shared.access_group"};
        for (const auto* operation : {"add.f32", "add.s32", "mad.lo.s32", "rsqrt.approx.f32"})
            for (const auto* leaf : {"latency", "throughput", "instructions"})
                leaves.insert(fmt::format("operations[{}].{}", operation, leaf));
        return leaves;
    }();
    return kLeaves;
}

}  // namespace gputomo::reproduce
