#include "reproduce/expression/calls.hpp"

#include "models/model.hpp"
#include "reproduce/expression/functions.hpp"
#include "reproduce/measured/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

namespace gputomo::reproduce {
namespace {

constexpr std::string_view kLeafTests[] = {"absent", "known"};
constexpr std::string_view kModelPrefix = "model";  // of model() and model_needed()
constexpr std::string_view kPredictionRules[] = {"conflict_ways", "transactions"};
constexpr std::string_view kKernelPrefix = "kernel_", kKernelColumns[] = {"warps", "rate"};

/// A mix of more adds does not fit one iteration of its loop.
constexpr double kMaxAdds = 512;

bool contains(std::span<const std::string_view> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}
bool are_all(Node::Kind kind, const std::vector<Node>& nodes) {
    return std::ranges::all_of(nodes, [&](const Node& node) { return node.kind == kind; });
}
bool is_whole_alpha(const Node& node) {
    return node.kind == Node::Kind::number && node.number >= 0 && node.number <= kMaxAdds &&
           std::floor(node.number) == node.number;
}
bool is_adds(const Node& node) { return node.kind == Node::Kind::text && node.name == "adds"; }

std::string expected_prediction(const Node& node, const Listings& listings) {
    if (node.arguments.size() < 2 || node.arguments[0].kind != Node::Kind::text ||
        node.arguments[1].kind != Node::Kind::text)
        return "predict('LISTING', 'QUANTITY', ...)";
    if (!listings.contains(node.arguments[0].name))
        return fmt::format("the name of a listing, not '{}'", node.arguments[0].name);
    const auto quantities = alternatives_to_quantity(node.arguments[1].name);
    return quantities.empty() ? quantities : fmt::format("one of {} of a listing", quantities);
}

std::string expected_mixes(const MixFunction& function, const Node& node) {
    const bool several = function.form == MixForm::several, estimated = function.form == MixForm::estimated;
    const auto access = access_position(function);
    auto form = fmt::format("{}({}'ACCESS', {})", node.name, estimated ? "'MODEL', " : "",
                            several ? "list(ALPHA, ...)" : "ALPHA");
    if (node.arguments.size() != access + 2) return form;
    if (std::any_of(node.arguments.begin(), node.arguments.begin() + static_cast<std::ptrdiff_t>(access) + 1,
                    [](const Node& a) { return a.kind != Node::Kind::text; }))
        return form;
    if (const auto expected = alternatives_to_access(node.arguments[access].name); !expected.empty())
        return expected + " in " + form;
    const auto models = models::catalogue();
    if (estimated && std::none_of(models.begin(), models.end(),
                                  [&](const auto& model) { return model.id == node.arguments[0].name; }))
        return "the id of a model in " + form;
    if (several && (node.arguments[access + 1].kind != Node::Kind::call || node.arguments[access + 1].name != "list"))
        return form;
    if (!function.reads_mixes) return {};
    for (const auto* alpha : alphas_of(function, node))
        if (!is_whole_alpha(*alpha) && (several || !is_adds(*alpha)))
            return fmt::format("0 to {} adds{} as ALPHA in {}", kMaxAdds, several ? "" : ", or 'adds',", form);
    return {};
}

std::string expected_arguments(const Node& node) {
    const auto* function = find_function(node.name);
    if (function == nullptr) return "a function that exists";
    if (node.arguments.size() >= function->least && node.arguments.size() <= function->most) return {};
    return function->least == function->most
               ? fmt::format("{} with {} arguments", node.name, function->least)
               : fmt::format("{} with {} to {} arguments", node.name, function->least, function->most);
}

}  // namespace

bool is_leaf_test(std::string_view name) { return contains(kLeafTests, name); }
bool asks_model(std::string_view name) { return name.starts_with(kModelPrefix); }
bool is_prediction_rule(std::string_view name) { return contains(kPredictionRules, name); }

std::string_view kernel_column(std::string_view name) {
    if (!name.starts_with(kKernelPrefix)) return {};
    const auto column = name.substr(kKernelPrefix.size());
    return contains(kKernelColumns, column) ? column : std::string_view();
}

std::size_t access_position(const MixFunction& function) { return function.form == MixForm::estimated ? 1 : 0; }

std::vector<const Node*> alphas_of(const MixFunction& function, const Node& node) {
    const Node& alpha = node.arguments[access_position(function) + 1];
    std::vector<const Node*> all;
    if (function.form != MixForm::several) return {&alpha};
    for (const auto& one : alpha.arguments) all.push_back(&one);
    return all;
}

std::string expected_call(const Node& node, const Listings& listings) {
    const auto& arguments = node.arguments;
    if (is_leaf_test(node.name))
        return arguments.size() == 1 && are_all(Node::Kind::leaf, arguments) ? "" : node.name + "(leaf)";
    if (node.name == kColumn)
        return arguments.size() == 3 && are_all(Node::Kind::text, arguments)
                   ? ""
                   : "column('experiment', 'trace', 'column')";
    if (node.name == kOf)
        return arguments.size() == 2 && arguments.front().kind == Node::Kind::text ? "" : "of('GPU', expression)";
    if (node.name == kPredict) return expected_prediction(node, listings);
    if (!kernel_column(node.name).empty()) {
        if (arguments.size() != 1 || !are_all(Node::Kind::text, arguments)) return fmt::format("{}('ID')", node.name);
        const auto known = alternatives_to_kernel(arguments.front().name);
        return known.empty() ? known : fmt::format("one of {}", known);
    }
    if (const auto* of_mixes = find_mix_function(node.name)) return expected_mixes(*of_mixes, node);
    return expected_arguments(node);
}

}  // namespace gputomo::reproduce
