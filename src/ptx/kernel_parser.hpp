// Parses the body of a kernel: declarations, labels, scopes and instructions. Only parser.cpp uses it.
#pragma once

#include "ptx/instructions.hpp"
#include "ptx/ir.hpp"
#include "ptx/lexer.hpp"
#include "ptx/parser.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace gputomo::ptx {

/// A position in the tokens of a text.
class TokenStream {
public:
    TokenStream(const Source& source, std::span<const Token> tokens) : source_(source), tokens_(tokens) {}

    [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }
    const Token& next();
    [[nodiscard]] bool is(std::string_view text) const;
    /// Takes the token if it is `text`.
    bool take(std::string_view text);
    void expect(std::string_view text);
    std::string name(std::string_view what);
    /// Takes a whole number from 0 to `largest`.
    std::int64_t whole_number(std::string_view what, std::int64_t largest);
    /// Throws InputError for the line of the next token.
    [[noreturn]] void fail(const std::string& what) const { source_.fail(peek().line, what); }
    /// Throws InputError for the line of the token that was taken last.
    [[noreturn]] void fail_last(const std::string& what) const {
        source_.fail(tokens_[at_ == 0 ? 0 : at_ - 1].line, what);
    }
    [[noreturn]] void fail_at(int line, const std::string& what) const { source_.fail(line, what); }
    void skip_line();         ///< the rest of this line (.loc, .file)
    void skip_statement();    ///< up to and including the next `;`
    void skip_block();        ///< a balanced { }
    void skip_declaration();  ///< up to and including the next `;` or balanced { }
    [[nodiscard]] std::size_t position() const { return at_; }
    void go_to(std::size_t position) { at_ = position; }
    /// The text of the tokens from `first` to the next one, which it leaves out, on one line.
    [[nodiscard]] std::string text_from(std::size_t first) const;

private:
    const Source& source_;
    std::span<const Token> tokens_;
    std::size_t at_ = 0;
};

/// Parses `.space .align N .type name[N] = {...}, name2 ...;` from the space on, behind the linkage directives.
[[nodiscard]] std::vector<Variable> parse_variables(TokenStream& in, bool is_extern);
/// Parses one kernel parameter, from `.param` on.
[[nodiscard]] Variable parse_parameter(TokenStream& in);

/// Parses from `{` to the matching `}`.
class KernelParser {
public:
    KernelParser(TokenStream& in, const Module& module, Kernel& kernel, Unknown unknown);
    void parse_body();

private:
    struct Scope {
        std::size_t parent = 0;
        std::unordered_map<std::string, std::uint32_t> registers;
        std::unordered_map<std::string, std::string> variables;  ///< name in the text -> name in the kernel
        std::unordered_map<std::string, std::string> labels;
    };
    struct LabelUse {
        std::string* name = nullptr;  ///< what to replace; filled in when all instructions are read
        std::size_t instruction = 0;
        std::size_t source = 0;
        std::string table;  ///< instead of an instruction: this branch target list
        std::size_t scope = 0;
        int line = 0;
    };

    void statement();
    void directive();
    void registers();
    void variables();
    bool label();
    void branch_targets(const std::string& table);
    void instruction();
    /// An instruction behind its guard.
    void known_instruction(const std::optional<Guard>& its_guard);
    /// Keeps the text of an instruction that is not known, which starts with token `begin`.
    void keep_unknown(const std::optional<Guard>& its_guard, std::size_t begin, const std::string& why);
    std::optional<Guard> guard();
    void operands(const Form& form, Instruction& instruction);
    void call_operands(Instruction& instruction);
    void divide(const Form& form, Instruction& instruction, std::vector<Operand> all, bool second_destination);
    Operand operand(bool is_label);
    Operand word(bool is_label);
    Operand vector();
    Operand address();
    Operand number();
    void round_literals(Instruction& instruction) const;
    void note_label_uses(const Form& form, const Instruction& instruction);
    void resolve_labels();

    const Lookup& look_up_cached(const std::string& mnemonic);
    void open_scope();
    void declare_register(const std::string& name, Type type);
    [[nodiscard]] std::string unused(const std::string& name);
    [[nodiscard]] std::optional<Register> find_register(const std::string& name) const;
    [[nodiscard]] Register register_named(const std::string& name, std::string_view what) const;
    [[nodiscard]] std::optional<std::string> find_symbol(const std::string& name) const;

    TokenStream& in_;
    const Module& module_;
    Kernel& kernel_;
    Unknown unknown_;
    std::vector<Scope> scopes_;
    std::size_t scope_ = 0;
    std::size_t depth_ = 0;
    std::unordered_set<std::string> names_;  ///< of registers, variables and labels, so that nested scopes do not clash
    std::unordered_map<std::string, int> suffixes_;  ///< last number that made a name of another scope unique
    std::vector<LabelUse> label_uses_;
    std::unordered_map<std::string, Lookup> known_;
};

}  // namespace gputomo::ptx
