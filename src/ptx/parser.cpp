#include "ptx/parser.hpp"

#include "ptx/kernel_parser.hpp"
#include "ptx/literals.hpp"
#include "ptx/names.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace gputomo::ptx {
namespace {

constexpr std::size_t kLongestText = std::size_t{64} << 20;
constexpr std::int64_t kLargestVariable = std::int64_t{1} << 40;
constexpr std::int64_t kLargestInitial = std::int64_t{64} << 20;

/// Reads "{1, 2, {3, 4}}": the values in order, regardless of nesting.
void initial_values(TokenStream& in, Type type, std::size_t limit, std::vector<std::uint8_t>& bytes) {
    int depth = 0;
    do {
        if (in.take("{")) {
            ++depth;
            continue;
        }
        if (in.take("}")) {
            if (--depth < 0) in.fail("unexpected '}'; expected a value");
            continue;
        }
        if (in.take(",")) continue;
        const bool minus = in.take("-");
        auto value = in.peek().kind == TokenKind::number ? parse_literal(in.peek().text) : std::nullopt;
        if (!value)
            in.fail(fmt::format("unexpected '{}' as an initial value; expected a number (addresses are not supported)",
                                in.peek().text));
        in.next();
        if (minus) value = negated(*value);
        if (value->is_float != (type == Type::f32 || type == Type::f64))
            in.fail_last(fmt::format("the initial value does not fit the type .{}; expected {}", name_of(type),
                                     value->is_float ? "an integer" : "a fraction"));
        const std::uint64_t bits = type == Type::f32 ? narrow_float_bits(value->bits) : value->bits;
        for (std::int64_t i = 0; i < size_of(type).count(); ++i)
            bytes.push_back(i < 8 ? static_cast<std::uint8_t>(bits >> (8 * i)) : 0);
        if (bytes.size() > limit)
            in.fail_last(
                fmt::format("too many initial values; expected at most {} bytes, the size of the variable", limit));
    } while (depth > 0);
}

Type element_type(TokenStream& in) {
    const auto type = in.peek().kind == TokenKind::dot_word ? type_named(in.peek().text.substr(1)) : std::nullopt;
    if (!type || *type == Type::pred)
        in.fail(fmt::format(
            "unknown type '{}'; expected .b8, .u32, .f32, ... (texture and surface references are not supported)",
            in.peek().text));
    in.next();
    return *type;
}

Bytes alignment(TokenStream& in) {
    const std::int64_t bytes = in.whole_number("the alignment", std::int64_t{1} << 20);
    if (bytes == 0 || (bytes & (bytes - 1)) != 0)
        in.fail_last(fmt::format("unexpected alignment {}; expected a power of two", bytes));
    return Bytes{bytes};
}

/// The number of elements that "[2][3]" declares; 1 without brackets, nullopt for "[]".
std::optional<std::int64_t> dimensions(TokenStream& in) {
    std::int64_t elements = 1;
    bool open = false;
    while (in.take("[")) {
        if (in.take("]")) {
            open = true;
            continue;
        }
        const std::int64_t dimension = in.whole_number("the number of elements", kLargestVariable);
        in.expect("]");
        if (dimension != 0 && elements > kLargestVariable / dimension)
            in.fail_last(fmt::format("the array is too large; expected at most {} elements", kLargestVariable));
        elements *= dimension;
    }
    if (open) return std::nullopt;
    return elements;
}

void size_variable(TokenStream& in, Variable& variable, std::optional<std::int64_t> elements) {
    if (elements && *elements > kLargestVariable / 16)
        in.fail(fmt::format("the array is too large; expected at most {} elements", kLargestVariable / 16));
    if (elements) variable.size = size_of(variable.type) * *elements;
    if (!in.take("=")) {
        if (!elements && !variable.is_extern) in.fail("an array without a size; expected initial values or .extern");
        return;
    }
    if (variable.is_extern) in.fail_last("an .extern variable has initial values; expected none");
    const std::int64_t limit = elements ? variable.size.count() : kLargestInitial;
    if (limit > kLargestInitial)
        in.fail(fmt::format("too many initial values; expected at most {} bytes", kLargestInitial));
    initial_values(in, variable.type, static_cast<std::size_t>(limit), variable.initial);
    if (!elements) variable.size = Bytes{static_cast<std::int64_t>(variable.initial.size())};
    variable.initial.resize(static_cast<std::size_t>(variable.size.count()));
}

/// Reads a number from 0 to 99; returns -1 for any other text.
int version_part(std::string_view text) {
    const bool digits =
        !text.empty() && text.size() <= 2 && text.find_first_not_of("0123456789") == std::string_view::npos;
    int value = 0;
    for (const char c : text.substr(0, 2)) value = 10 * value + (c - '0');
    return digits ? value : -1;
}

class ModuleParser {
public:
    ModuleParser(const Source& source, std::span<const Token> tokens, std::optional<std::string_view> only,
                 Unknown unknown)
        : in_(source, tokens), only_(only), unknown_(unknown) {}

    Module run() {
        while (in_.peek().kind != TokenKind::end) next_statement();
        if (!has_version_) in_.fail("no .version directive; expected one at the top");
        if (module_.target_sm == 0) in_.fail("no .target directive; expected one after .version");
        return std::move(module_);
    }

private:
    void next_statement() {
        if (in_.take(";")) return;
        const std::size_t begin = in_.position();
        if (unknown_ == Unknown::is_error || !has_version_) return statement();
        try {
            statement();
        } catch (const InputError&) {
            in_.go_to(begin);
            if (in_.peek().kind != TokenKind::dot_word) throw;
            // What is declared here stays unknown, and so do the instructions that name it.
            in_.skip_declaration();
        }
    }

    void statement() {
        bool is_extern = false;
        while (in_.is(".visible") || in_.is(".extern") || in_.is(".weak") || in_.is(".common"))
            is_extern = in_.next().text == ".extern" || is_extern;
        const std::string_view name = in_.peek().text;
        if (in_.peek().kind != TokenKind::dot_word)
            in_.fail(fmt::format("unexpected '{}'; expected a directive", name));
        if (name == ".version") return version();
        if (name == ".target") return target();
        if (name == ".address_size") return address_size();
        if (!has_version_)
            in_.fail(fmt::format("unexpected '{}' before .version; expected .version, .target and .address_size first",
                                 name));
        if (name == ".entry") return entry();
        if (name == ".func") return function();
        if (name == ".global" || name == ".const" || name == ".shared") return variables(is_extern);
        if (name == ".file" || name == ".loc") return in_.skip_line();
        if (name == ".pragma") return in_.skip_statement();
        if (name == ".section") {
            in_.next();
            return in_.skip_block();
        }
        in_.fail(
            fmt::format("unknown directive '{}'; expected .entry, .func, .global, .const, .shared, .version, .target "
                        "or .address_size",
                        name));
    }

    void version() {
        in_.next();
        const std::string_view text = in_.peek().text;
        const std::size_t dot = std::min(text.find('.'), text.size());
        const int major = version_part(text.substr(0, dot));
        const int minor = version_part(text.substr(std::min(dot + 1, text.size())));
        if (in_.peek().kind != TokenKind::number || major < 0 || minor < 0)
            in_.fail(fmt::format("unknown version '{}'; expected MAJOR.MINOR", text));
        in_.next();
        module_.version_major = major;
        module_.version_minor = minor;
        has_version_ = true;
    }

    void target() {
        in_.next();
        const std::string name = in_.name("a target");
        const std::size_t digits = name.starts_with("sm_") ? name.find_first_not_of("0123456789", 3) : 3;
        const auto sm = parse_literal(std::string_view(name).substr(std::min<std::size_t>(3, name.size()),
                                                                    digits == std::string::npos ? digits : digits - 3));
        if (!sm || sm->bits == 0 || sm->bits > 9999)
            in_.fail_last(fmt::format("unknown target '{}'; expected sm_XX", name));
        module_.target_sm = static_cast<int>(sm->bits);
        module_.target_suffix = name.substr(std::min(digits, name.size()));
        while (in_.take(",")) in_.name("a target option");
    }

    void address_size() {
        in_.next();
        module_.address_size = static_cast<int>(in_.whole_number("the address size", 64));
        if (module_.address_size != 32 && module_.address_size != 64)
            in_.fail_last(fmt::format("unknown address size {}; expected 32 or 64", module_.address_size));
    }

    void variables(bool is_extern) {
        const int line = in_.peek().line;
        for (Variable& variable : parse_variables(in_, is_extern)) {
            if (!names_.insert(variable.name).second)
                in_.fail_at(line, fmt::format("'{}' is declared twice; expected another name", variable.name));
            module_.variables.push_back(std::move(variable));
        }
    }

    void function() {
        in_.next();
        if (in_.is("(")) skip_parentheses();
        const std::string name = in_.name("a function's name");
        if (std::ranges::find(module_.functions, name) == module_.functions.end()) module_.functions.push_back(name);
        while (!in_.is("{") && !in_.is(";")) {
            if (in_.peek().kind == TokenKind::end)
                in_.fail(fmt::format("the text ends in the declaration of function '{}'; expected '{{' or ';'", name));
            in_.next();
        }
        if (!in_.take(";")) in_.skip_block();
    }

    void skip_parentheses() {
        while (!in_.take(")")) {
            if (in_.peek().kind == TokenKind::end) in_.fail("the text ends in a list of parameters; expected ')'");
            in_.next();
        }
    }

    void entry() {
        in_.next();
        Kernel kernel;
        const int line = in_.peek().line;
        kernel.name = in_.name("a kernel's name");
        if (!names_.insert(kernel.name).second)
            in_.fail_at(line, fmt::format("'{}' is declared twice; expected another name", kernel.name));
        const std::size_t begin = in_.position();
        try {
            definition(kernel);
        } catch (const InputError& error) {
            if (unknown_ == Unknown::is_error) throw;
            kernel = {.name = kernel.name, .refusal = error.what()};
            in_.go_to(begin);
            in_.skip_block();
        }
        module_.kernels.push_back(std::move(kernel));
    }

    void definition(Kernel& kernel) {
        if (in_.take("(") && !in_.take(")")) {
            do parameter(kernel);
            while (in_.take(","));
            in_.expect(")");
        }
        while (in_.peek().kind == TokenKind::dot_word) performance_directive(kernel);
        if (only_ && kernel.name != *only_)
            in_.skip_block();
        else
            KernelParser(in_, module_, kernel, unknown_).parse_body();
    }

    void parameter(Kernel& kernel) {
        Variable variable = parse_parameter(in_);
        if (std::ranges::find(kernel.parameters, variable.name, &Variable::name) != kernel.parameters.end())
            in_.fail_last(fmt::format("parameter '{}' is declared twice; expected another name", variable.name));
        kernel.parameters.push_back(std::move(variable));
    }

    void performance_directive(Kernel& kernel) {
        const std::string_view name = in_.next().text;
        if (name == ".pragma") {
            if (in_.peek().kind != TokenKind::string)
                in_.fail(fmt::format("unexpected '{}' after .pragma; expected a string", in_.peek().text));
            kernel.pragmas.emplace_back(in_.next().text);
            in_.expect(";");
            return;
        }
        std::int64_t product = 1;
        while (in_.peek().kind == TokenKind::number) {
            product *= std::max<std::int64_t>(in_.whole_number("a number of threads", 1 << 16), 1);
            if (product > (1 << 16)) in_.fail_last("too many threads or registers; expected at most 65536");
            in_.take(",");
        }
        if (name == ".maxntid" || name == ".reqntid")
            kernel.max_threads = static_cast<int>(product);
        else if (!name.starts_with(".min") && !name.starts_with(".max") && !name.starts_with(".req") &&
                 name != ".noreturn" && name != ".explicitcluster")
            in_.fail_last(fmt::format(
                "unknown directive '{}' of a kernel; expected .maxntid, .reqntid, .minnctapersm, .maxnreg or .pragma",
                name));
    }

    TokenStream in_;
    std::optional<std::string_view> only_;  ///< the kernel whose body is read; nullopt: all bodies are read
    Unknown unknown_ = Unknown::is_error;
    Module module_;
    bool has_version_ = false;
    std::unordered_set<std::string> names_;
};

}  // namespace

const Token& TokenStream::next() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
}

bool TokenStream::is(std::string_view text) const {
    return peek().kind != TokenKind::string && peek().kind != TokenKind::end && peek().text == text;
}

bool TokenStream::take(std::string_view text) {
    if (!is(text)) return false;
    next();
    return true;
}

void TokenStream::expect(std::string_view text) {
    if (!take(text)) fail(fmt::format("unexpected '{}'; expected '{}'", peek().text, text));
}

std::string TokenStream::name(std::string_view what) {
    if (peek().kind != TokenKind::word) fail(fmt::format("unexpected '{}'; expected {}", peek().text, what));
    return std::string(next().text);
}

std::int64_t TokenStream::whole_number(std::string_view what, std::int64_t largest) {
    const auto value = peek().kind == TokenKind::number ? parse_literal(peek().text) : std::nullopt;
    if (!value || value->is_float || value->bits > static_cast<std::uint64_t>(largest))
        fail(fmt::format("unexpected '{}'; expected {}, at most {}", peek().text, what, largest));
    next();
    return static_cast<std::int64_t>(value->bits);
}

std::string TokenStream::text_from(std::size_t first) const {
    const char* const begin = tokens_[first].text.data();
    std::string text(begin, tokens_[at_].text.data());
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
    return text;
}

void TokenStream::skip_line() {
    const int line = peek().line;
    while (peek().kind != TokenKind::end && peek().line == line) next();
}

void TokenStream::skip_statement() {
    while (!take(";")) {
        if (peek().kind == TokenKind::end) fail("the text ends; expected ';'");
        next();
    }
}

void TokenStream::skip_declaration() {
    while (peek().kind != TokenKind::end) {
        if (take(";")) return;
        if (is("{")) return skip_block();
        next();
    }
}

void TokenStream::skip_block() {
    while (!is("{")) {
        if (peek().kind == TokenKind::end) fail("the text ends; expected '{'");
        next();
    }
    int depth = 0;
    do {
        if (peek().kind == TokenKind::end) fail("the text ends in a block; expected '}'");
        if (is("{")) ++depth;
        if (is("}")) --depth;
        next();
    } while (depth > 0);
}

std::vector<Variable> parse_variables(TokenStream& in, bool is_extern) {
    Variable common;
    common.is_extern = is_extern;
    common.space = *space_named(in.next().text.substr(1));
    if (in.take(".align")) common.alignment = alignment(in);
    std::int64_t vector = in.take(".v2") ? 2 : in.take(".v4") ? 4 : 1;
    common.type = element_type(in);
    if (common.alignment == Bytes{0}) common.alignment = size_of(common.type) * vector;
    std::vector<Variable> made;
    do {
        made.push_back(common);
        made.back().name = in.name("a variable's name");
        auto elements = dimensions(in);
        if (elements) elements = *elements * vector;
        size_variable(in, made.back(), elements);
    } while (in.take(","));
    in.expect(";");
    return made;
}

Variable parse_parameter(TokenStream& in) {
    in.expect(".param");
    Variable variable;
    variable.space = Space::param;
    if (in.take(".align")) variable.alignment = alignment(in);
    variable.type = element_type(in);
    if (in.take(".ptr")) {
        if (in.peek().kind == TokenKind::dot_word && space_named(in.peek().text.substr(1))) in.next();
        if (in.take(".align")) static_cast<void>(alignment(in));
    }
    if (variable.alignment == Bytes{0}) variable.alignment = size_of(variable.type);
    variable.name = in.name("a parameter's name");
    const auto elements = dimensions(in);
    if (!elements || *elements > kLargestVariable / 16)
        in.fail_last("a parameter without a size; expected the number of elements in brackets");
    variable.size = size_of(variable.type) * *elements;
    return variable;
}

namespace {

Module parsed(std::string_view text, std::string_view origin, std::optional<std::string_view> only, Unknown unknown) {
    const Source source{text, origin};
    if (text.size() > kLongestText)
        source.fail(1, fmt::format("the text has {} bytes; expected at most {}", text.size(), kLongestText));
    const auto tokens = tokenize(source);
    return ModuleParser(source, tokens, only, unknown).run();
}

}  // namespace

Module parse(std::string_view text, std::string_view origin, Unknown unknown) {
    return parsed(text, origin, std::nullopt, unknown);
}

Module parse_kernel(std::string_view text, std::string_view kernel, std::string_view origin) {
    return parsed(text, origin, kernel, Unknown::is_error);
}

}  // namespace gputomo::ptx
