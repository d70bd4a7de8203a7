#include "reproduce/expression/expression.hpp"

#include "reproduce/expression/calls.hpp"
#include "reproduce/expression/functions.hpp"
#include "reproduce/expression/mix_functions.hpp"
#include "reproduce/expression/parser.hpp"
#include "reproduce/measured/kernels.hpp"

#include <fmt/format.h>

#include <span>

namespace gputomo::reproduce {
namespace {

Value leaf_value(const scan::Scan& scan, const std::string& path) {
    const auto* estimate = scan.findings.find(path);
    if (estimate == nullptr) throw NotMeasured(fmt::format("not measured: {}", path));
    if (estimate->knowledge == results::Knowledge::absent)
        throw NotMeasured(fmt::format("{} was looked for and is absent", path));
    if (estimate->knowledge == results::Knowledge::undecided) {
        std::string candidates;
        for (const auto& candidate : estimate->candidates)
            candidates += (candidates.empty() ? ": one of " : ", ") + text_of(value_of(candidate));
        throw NotMeasured(fmt::format("{} was left undecided{}", path, candidates));
    }
    return value_of(estimate->value);
}

/// absent(leaf) or known(leaf).
Value leaf_test(const scan::Scan& scan, const Node& node) {
    const auto& path = node.arguments.front().name;
    const auto* estimate = scan.findings.find(path);
    if (estimate == nullptr) throw NotMeasured(fmt::format("not measured: {}", path));
    if (node.name == "known") return estimate->knowledge == results::Knowledge::known;
    if (estimate->knowledge == results::Knowledge::undecided)
        throw NotMeasured(fmt::format("{} was left undecided", path));
    return estimate->knowledge == results::Knowledge::absent;
}

Value column_values(const scan::Scan& scan, std::string_view experiment, std::string_view name,
                    std::string_view column) {
    if (const auto* values = scan.column(experiment, name, column)) return *values;
    throw NotMeasured(
        fmt::format("not measured: column '{}' of the trace {} of experiment {}", column, name, experiment));
}

const scan::Scan& scan_of(const Scans& scans, const std::string& gpu) {
    const auto found = scans.find(gpu);
    if (found == scans.end()) throw NotMeasured(fmt::format("not measured: {}", gpu));
    return found->second;
}

/// The value of a node for `gpu`.
Value evaluated(const Node& node, const Scans& scans, const std::string& gpu) {
    switch (node.kind) {
        case Node::Kind::number: return node.number;
        case Node::Kind::text: return node.name;
        case Node::Kind::leaf: return leaf_value(scan_of(scans, gpu), node.name);
        case Node::Kind::call: break;
    }
    if (is_leaf_test(node.name)) return leaf_test(scan_of(scans, gpu), node);
    const auto text = [&](std::size_t argument) -> const std::string& { return node.arguments[argument].name; };
    if (node.name == kColumn) return column_values(scan_of(scans, gpu), text(0), text(1), text(2));
    if (const auto column = kernel_column(node.name); !column.empty())
        return column_values(scan_of(scans, gpu), kKernelRecord, kernel_trace_name(text(0)), column);
    if (node.name == kOf) return evaluated(node.arguments[1], scans, node.arguments[0].name);
    std::vector<Value> arguments;
    for (const auto& argument : node.arguments) arguments.push_back(evaluated(argument, scans, gpu));
    if (const auto* of_mixes = find_mix_function(node.name)) return of_mixes->apply(scan_of(scans, gpu), arguments);
    if (node.name == kPredict) return predicted_value(scan_of(scans, gpu), text(0), std::span(arguments).subspan(1));
    return find_function(node.name)->apply(arguments);
}

}  // namespace

Expression::Expression(std::string_view text, const Listings& listings) : text_(text), root_(parse(text_, listings)) {
    collect(root_, {});
}

void Expression::collect(const Node& node, const std::string& gpu) {
    if (node.kind == Node::Kind::leaf) reads_[gpu].leaves.insert(node.name);
    if (node.kind == Node::Kind::call) collect_call(node, gpu);
    const auto& of = node.kind == Node::Kind::call && node.name == kOf ? node.arguments.front().name : gpu;
    for (const auto& argument : node.arguments) collect(argument, of);
}

void Expression::collect_call(const Node& node, const std::string& gpu) {
    if (node.name == kColumn) reads_[gpu].experiments.insert(node.arguments.front().name);
    if (asks_model(node.name)) models_.insert(node.arguments.front().name);
    if (const auto* of_mixes = find_mix_function(node.name)) collect_mixes(*of_mixes, node, reads_[gpu]);
    if (!kernel_column(node.name).empty()) reads_[gpu].kernels.insert(node.arguments.front().name);
    asks_prediction_ = asks_prediction_ || node.name == kPredict || is_prediction_rule(node.name);
    if (node.name == kPredict)
        reads_[gpu].leaves.insert(leaves_of_predictions().begin(), leaves_of_predictions().end());
}

/// Every function of mixes also reads what the models' parameters need, such as accesses alone and adds alone.
void Expression::collect_mixes(const MixFunction& function, const Node& node, Reads& reads) {
    const auto& access = node.arguments[access_position(function)].name;
    reads.leaves.merge(leaves_of_mixes(access));
    reads.experiments.insert(std::string(kAloneExperiment));
    if (!function.reads_mixes) return;
    for (const auto* alpha : alphas_of(function, node))
        if (alpha->kind == Node::Kind::number && alpha->number > 0)
            reads.mixes.insert({access, static_cast<int>(alpha->number)});
}

Expression::Reads Expression::reads_of(const std::string& of, const std::string& gpu) const {
    Reads all;
    for (const auto& [name, reads] : reads_)
        if ((name.empty() ? gpu : name) == of) {
            all.leaves.insert(reads.leaves.begin(), reads.leaves.end());
            all.experiments.insert(reads.experiments.begin(), reads.experiments.end());
            all.mixes.insert(reads.mixes.begin(), reads.mixes.end());
            all.kernels.insert(reads.kernels.begin(), reads.kernels.end());
        }
    return all;
}

Value Expression::evaluate(const Scans& scans, const std::string& gpu) const {
    try {
        return evaluated(root_, scans, gpu);
    } catch (const InputError& e) {
        throw InputError(fmt::format("\"{}\": {}", text_, e.what()));
    }
}

}  // namespace gputomo::reproduce
