#include "reproduce/expression/expression.hpp"

#include "machine/paths.hpp"
#include "models/model.hpp"
#include "reproduce/expression/functions.hpp"
#include "reproduce/expression/mix_functions.hpp"
#include "reproduce/measured/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace gputomo::reproduce {
namespace {

using Node = Expression::Node;

/// Functions of what was found at a leaf rather than of its value.
constexpr std::string_view kOfLeaf[] = {"absent", "known"};
/// column('experiment', 'trace', 'column')
constexpr std::string_view kColumn = "column";
constexpr std::string_view kModel = "model";  // and "model_needed"
/// predict('LISTING', 'QUANTITY', ...)
constexpr std::string_view kPredict = "predict";
/// By what rules a prediction goes; functions that need no scan.
constexpr std::string_view kRulesOfPredictions[] = {"conflict_ways", "transactions"};
/// kernel_warps('ID'), kernel_rate('ID'): columns of what was measured of a real kernel
constexpr std::string_view kKernel = "kernel_", kKernelColumns[] = {"warps", "rate"};
/// of('GPU', expression): the expression for another GPU of the paper
constexpr std::string_view kOf = "of";

/// Of a function of mixes, the argument that names the kind of access; ALPHA follows.
std::size_t access_at(const MixFunction& function) { return function.form == MixForm::estimated ? 1 : 0; }

/// The nodes of the ALPHAs of a function of mixes.
std::vector<const Node*> alphas_of(const MixFunction& function, const Node& node) {
    const Node& alpha = node.arguments[access_at(function) + 1];
    std::vector<const Node*> all;
    if (function.form != MixForm::several) return {&alpha};
    for (const auto& one : alpha.arguments) all.push_back(&one);
    return all;
}

/// Longer mixes do not fit a turn of their loop.
constexpr double kMostAdds = 512;
bool is_whole_alpha(const Node& node) {
    return node.kind == Node::Kind::number && node.number >= 0 && node.number <= kMostAdds &&
           std::floor(node.number) == node.number;
}
bool is_adds(const Node& node) { return node.kind == Node::Kind::text && node.name == "adds"; }

bool is_of_leaf(std::string_view name) {
    return std::find(std::begin(kOfLeaf), std::end(kOfLeaf), name) != std::end(kOfLeaf);
}
bool is_rule_of_predictions(std::string_view name) {
    return std::find(std::begin(kRulesOfPredictions), std::end(kRulesOfPredictions), name) !=
           std::end(kRulesOfPredictions);
}
/// The column that a function of real kernels reads; "" for other functions.
std::string_view kernel_column(std::string_view name) {
    if (!name.starts_with(kKernel)) return {};
    const auto* found = std::find(std::begin(kKernelColumns), std::end(kKernelColumns), name.substr(kKernel.size()));
    return found == std::end(kKernelColumns) ? std::string_view() : *found;
}
bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// By recursive descent; each rule is a level of precedence.
class Parser {
public:
    Parser(std::string_view text, const Listings& listings) : text_(text), listings_(listings) {}

    Node whole() {
        Node node = disjunction();
        skip_space();
        if (at_ != text_.size()) fail("an operator or the end");
        return node;
    }

private:
    [[noreturn]] void fail(std::string_view expected) const {
        const auto found = at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : std::string("the end");
        throw InputError(
            fmt::format("\"{}\": at character {}: found {}; expected {}", text_, at_ + 1, found, expected));
    }
    void skip_space() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    char peek() {
        skip_space();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(std::string_view sign) {
        skip_space();
        if (!text_.substr(at_).starts_with(sign)) return false;
        const auto end = at_ + sign.size();
        if (starts_name(sign[0]) && end < text_.size() &&
            (starts_name(text_[end]) || is_digit(text_[end]) || text_[end] == '.'))
            return false;
        at_ = end;
        return true;
    }

    static Node call(std::string_view name, std::vector<Node> arguments) {
        return {Node::Kind::call, 0, std::string(name), std::move(arguments)};
    }

    Node disjunction() {
        Node left = conjunction();
        while (take("or")) left = call("or", {left, conjunction()});
        return left;
    }
    Node conjunction() {
        Node left = negation();
        while (take("and")) left = call("and", {left, negation()});
        return left;
    }
    Node negation() { return take("not") ? call("not", {negation()}) : comparison(); }
    Node comparison() {
        Node left = sum();
        for (const auto* sign : {"==", "!=", "<=", ">=", "<", ">"})
            if (take(sign)) return call(sign, {left, sum()});
        return left;
    }
    Node sum() {
        Node left = product();
        for (char sign = peek(); sign == '+' || sign == '-'; sign = peek()) {
            ++at_;
            left = call(std::string_view(&sign, 1), {left, product()});
        }
        return left;
    }
    Node product() {
        Node left = factor();
        for (char sign = peek(); sign == '*' || sign == '/'; sign = peek()) {
            ++at_;
            left = call(std::string_view(&sign, 1), {left, factor()});
        }
        return left;
    }
    Node factor() {
        if (take("-")) return call("-", {factor()});
        if (take("(")) {
            Node inner = disjunction();
            if (!take(")")) fail("')'");
            return inner;
        }
        const char next = peek();
        if (next == '\'') return quoted();
        if (is_digit(next)) return number();
        if (starts_name(next)) return named();
        fail("a value");
    }
    Node quoted() {
        const auto end = text_.find('\'', at_ + 1);
        if (end == std::string_view::npos) fail("a closing quote");
        Node node{Node::Kind::text, 0, std::string(text_.substr(at_ + 1, end - at_ - 1)), {}};
        at_ = end + 1;
        return node;
    }
    Node number() {
        Node node;
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), node.number);
        if (error != std::errc{}) fail("a number");
        at_ = static_cast<std::size_t>(end - text_.data());
        return node;
    }
    /// A path, in which brackets may hold anything, or a function.
    Node named() {
        const auto start = at_;
        while (at_ < text_.size() &&
               (starts_name(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.' || text_[at_] == '[')) {
            if (text_[at_] == '[') at_ = std::min(text_.find(']', at_), text_.size() - 1);
            ++at_;
        }
        std::string name(text_.substr(start, at_ - start));
        if (!take("(")) return leaf(std::move(name), start);
        std::vector<Node> arguments;
        while (peek() != ')') {
            if (!arguments.empty() && !take(",")) fail("',' or ')'");
            arguments.push_back(disjunction());
        }
        ++at_;
        Node node = call(name, std::move(arguments));
        check(node, start);
        if (name == kPredict) node.arguments.front().name = listings_.at(node.arguments.front().name);
        return node;
    }
    Node leaf(std::string path, std::size_t start) {
        try {
            machine::Machine scratch;
            machine::set_leaf(scratch, path, {machine::Knowledge::absent, {}, {}, {}});
        } catch (const std::logic_error&) {
            at_ = start;
            fail("a function, or a leaf of the machine description");
        }
        return {Node::Kind::leaf, 0, std::move(path), {}};
    }
    void check(const Node& node, std::size_t start) {
        const auto refuse = [&](const std::string& expected) {
            at_ = start;
            fail(expected);
        };
        const auto all = [&](Node::Kind kind) {
            return std::all_of(node.arguments.begin(), node.arguments.end(),
                               [&](const Node& a) { return a.kind == kind; });
        };
        if (is_of_leaf(node.name)) {
            if (node.arguments.size() != 1 || !all(Node::Kind::leaf)) refuse(node.name + "(leaf)");
        } else if (node.name == kColumn) {
            if (node.arguments.size() != 3 || !all(Node::Kind::text)) refuse("column('experiment', 'trace', 'column')");
        } else if (node.name == kOf) {
            if (node.arguments.size() != 2 || node.arguments.front().kind != Node::Kind::text)
                refuse("of('GPU', expression)");
        } else if (node.name == kPredict) {
            if (const auto expected = what_predict_expects(node); !expected.empty()) refuse(expected);
        } else if (!kernel_column(node.name).empty()) {
            if (node.arguments.size() != 1 || !all(Node::Kind::text)) refuse(fmt::format("{}('ID')", node.name));
            if (const auto expected = why_no_kernel(node.arguments.front().name); !expected.empty())
                refuse(fmt::format("one of {}", expected));
        } else if (const auto* of_mixes = find_mix_function(node.name)) {
            if (const auto expected = what_mixes_expect(*of_mixes, node); !expected.empty()) refuse(expected);
        } else {
            const auto* function = find_function(node.name);
            if (function == nullptr) refuse("a function that there is");
            if (node.arguments.size() < function->least || node.arguments.size() > function->most)
                refuse(fmt::format("{} of {} to {} arguments", node.name, function->least, function->most));
        }
    }

    /// "" where the function is called as it should be.
    [[nodiscard]] std::string what_predict_expects(const Node& node) const {
        if (node.arguments.size() < 2 || node.arguments[0].kind != Node::Kind::text ||
            node.arguments[1].kind != Node::Kind::text)
            return "predict('LISTING', 'QUANTITY', ...)";
        if (!listings_.contains(node.arguments[0].name))
            return fmt::format("a listing that the paper has, not '{}'", node.arguments[0].name);
        const auto quantities = why_no_quantity(node.arguments[1].name);
        return quantities.empty() ? quantities : fmt::format("one of {} of a listing", quantities);
    }

    /// The same.
    static std::string what_mixes_expect(const MixFunction& function, const Node& node) {
        const bool several = function.form == MixForm::several, estimated = function.form == MixForm::estimated;
        const auto access = access_at(function);
        auto form = fmt::format("{}({}'ACCESS', {})", node.name, estimated ? "'MODEL', " : "",
                                several ? "list(ALPHA, ...)" : "ALPHA");
        if (node.arguments.size() != access + 2) return form;
        if (std::any_of(node.arguments.begin(), node.arguments.begin() + static_cast<std::ptrdiff_t>(access) + 1,
                        [](const Node& a) { return a.kind != Node::Kind::text; }))
            return form;
        if (const auto expected = why_no_access(node.arguments[access].name); !expected.empty())
            return expected + " in " + form;
        const auto models = models::catalogue();
        if (estimated && std::none_of(models.begin(), models.end(),
                                      [&](const auto& model) { return model.id == node.arguments[0].name; }))
            return "the id of a model in " + form;
        if (several &&
            (node.arguments[access + 1].kind != Node::Kind::call || node.arguments[access + 1].name != "list"))
            return form;
        if (!function.reads_mixes) return {};
        for (const auto* alpha : alphas_of(function, node))
            if (!is_whole_alpha(*alpha) && (several || !is_adds(*alpha)))
                return fmt::format("0 to {} adds{} as ALPHA in {}", kMostAdds, several ? "" : ", or 'adds',", form);
        return {};
    }

    std::string_view text_;
    const Listings& listings_;
    std::size_t at_ = 0;
};

Value leaf_value(const scan::Scan& scan, const std::string& path) {
    const auto* estimate = scan.findings.find(path);
    if (estimate == nullptr) throw NotMeasured(fmt::format("not measured: {}", path));
    if (estimate->verdict == results::Verdict::absent)
        throw NotMeasured(fmt::format("{} was looked for and is not there", path));
    if (estimate->verdict == results::Verdict::undecided) {
        std::string candidates;
        for (const auto& candidate : estimate->candidates)
            candidates += (candidates.empty() ? ": one of " : ", ") + text_of(value_of(candidate));
        throw NotMeasured(fmt::format("{} was left undecided{}", path, candidates));
    }
    return value_of(estimate->value);
}

Value of_leaf(const scan::Scan& scan, const Node& node) {
    const auto& path = node.arguments.front().name;
    const auto* estimate = scan.findings.find(path);
    if (estimate == nullptr) throw NotMeasured(fmt::format("not measured: {}", path));
    if (node.name == "known") return estimate->verdict == results::Verdict::decided;
    if (estimate->verdict == results::Verdict::undecided) throw NotMeasured(fmt::format("{} was left undecided", path));
    return estimate->verdict == results::Verdict::absent;
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

Value evaluate(const Node& node, const Scans& scans, const std::string& gpu) {
    switch (node.kind) {
        case Node::Kind::number: return node.number;
        case Node::Kind::text: return node.name;
        case Node::Kind::leaf: return leaf_value(scan_of(scans, gpu), node.name);
        case Node::Kind::call: break;
    }
    if (is_of_leaf(node.name)) return of_leaf(scan_of(scans, gpu), node);
    const auto text = [&](std::size_t argument) -> const std::string& { return node.arguments[argument].name; };
    if (node.name == kColumn) return column_values(scan_of(scans, gpu), text(0), text(1), text(2));
    if (const auto column = kernel_column(node.name); !column.empty())
        return column_values(scan_of(scans, gpu), kKernelRecord, kernel_trace_name(text(0)), column);
    if (node.name == kOf) return evaluate(node.arguments[1], scans, node.arguments[0].name);
    std::vector<Value> arguments;
    for (const auto& argument : node.arguments) arguments.push_back(evaluate(argument, scans, gpu));
    if (const auto* of_mixes = find_mix_function(node.name)) return of_mixes->apply(scan_of(scans, gpu), arguments);
    if (node.name == kPredict) return predicted_value(scan_of(scans, gpu), text(0), std::span(arguments).subspan(1));
    return find_function(node.name)->apply(arguments);
}

}  // namespace

Expression::Expression(std::string_view text, const Listings& listings)
    : text_(text), root_(Parser(text_, listings).whole()) {
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
    if (node.name.starts_with(kModel)) models_.insert(node.arguments.front().name);
    if (const auto* of_mixes = find_mix_function(node.name)) collect_mixes(*of_mixes, node, reads_[gpu]);
    if (!kernel_column(node.name).empty()) reads_[gpu].kernels.insert(node.arguments.front().name);
    asks_prediction_ = asks_prediction_ || node.name == kPredict || is_rule_of_predictions(node.name);
    if (node.name == kPredict)
        reads_[gpu].leaves.insert(leaves_of_predictions().begin(), leaves_of_predictions().end());
}

/// What the parameters of models need is read with the mixes, accesses and adds alone among it.
void Expression::collect_mixes(const MixFunction& function, const Node& node, Reads& reads) {
    const auto& access = node.arguments[access_at(function)].name;
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
        return reproduce::evaluate(root_, scans, gpu);
    } catch (const InputError& e) {
        throw InputError(fmt::format("\"{}\": {}", text_, e.what()));
    }
}

}  // namespace gputomo::reproduce
