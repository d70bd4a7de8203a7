#include "reproduce/expression/parser.hpp"

#include "machine/paths.hpp"
#include "reproduce/expression/calls.hpp"
#include "reproduce/expression/lexer.hpp"

#include <stdexcept>
#include <utility>

namespace gputomo::reproduce {
namespace {

Node call(std::string_view name, std::vector<Node> arguments) {
    return {Node::Kind::call, 0, std::string(name), std::move(arguments)};
}

/// Parses by recursive descent; each function is one level of precedence, from the loosest to the tightest.
class Parser {
public:
    Parser(std::string_view text, const Listings& listings) : lexer_(text), listings_(listings) {}

    Node whole() {
        Node node = disjunction();
        if (lexer_.next() != Lexer::Next::end) lexer_.fail("an operator or the end");
        return node;
    }

private:
    Node disjunction() {
        Node left = conjunction();
        while (lexer_.take("or")) left = call("or", {left, conjunction()});
        return left;
    }
    Node conjunction() {
        Node left = negation();
        while (lexer_.take("and")) left = call("and", {left, negation()});
        return left;
    }
    Node negation() { return lexer_.take("not") ? call("not", {negation()}) : comparison(); }
    Node comparison() {
        Node left = sum();
        for (const auto* sign : {"==", "!=", "<=", ">=", "<", ">"})
            if (lexer_.take(sign)) return call(sign, {left, sum()});
        return left;
    }
    Node sum() {
        Node left = product();
        for (char sign = lexer_.peek(); sign == '+' || sign == '-'; sign = lexer_.peek()) {
            const std::string_view name(&sign, 1);
            lexer_.take(name);
            left = call(name, {left, product()});
        }
        return left;
    }
    Node product() {
        Node left = factor();
        for (char sign = lexer_.peek(); sign == '*' || sign == '/'; sign = lexer_.peek()) {
            const std::string_view name(&sign, 1);
            lexer_.take(name);
            left = call(name, {left, factor()});
        }
        return left;
    }
    Node factor() {
        if (lexer_.take("-")) return call("-", {factor()});
        if (lexer_.take("(")) {
            Node inner = disjunction();
            if (!lexer_.take(")")) lexer_.fail("')'");
            return inner;
        }
        switch (lexer_.next()) {
            case Lexer::Next::text: return {Node::Kind::text, 0, lexer_.take_text(), {}};
            case Lexer::Next::number: return {Node::Kind::number, lexer_.take_number(), {}, {}};
            case Lexer::Next::name: return leaf_or_call();
            default: lexer_.fail("a value");
        }
    }
    Node leaf_or_call() {
        const auto start = lexer_.position();
        std::string name = lexer_.take_name();
        if (!lexer_.take("(")) return leaf(std::move(name), start);
        std::vector<Node> arguments;
        while (lexer_.peek() != ')') {
            if (!arguments.empty() && !lexer_.take(",")) lexer_.fail("',' or ')'");
            arguments.push_back(disjunction());
        }
        lexer_.take(")");
        Node node = call(name, std::move(arguments));
        if (const auto expected = expected_call(node, listings_); !expected.empty()) lexer_.fail_at(start, expected);
        if (name == kPredict) node.arguments.front().name = listings_.at(node.arguments.front().name);
        return node;
    }
    Node leaf(std::string path, std::size_t start) const {
        try {
            machine::Machine scratch;
            machine::set_leaf(scratch, path, {machine::Knowledge::absent, {}, {}, {}});
        } catch (const std::logic_error&) {
            lexer_.fail_at(start, "a function, or a leaf of the machine description");
        }
        return {Node::Kind::leaf, 0, std::move(path), {}};
    }

    Lexer lexer_;
    const Listings& listings_;
};

}  // namespace

Node parse(std::string_view text, const Listings& listings) { return Parser(text, listings).whole(); }

}  // namespace gputomo::reproduce
