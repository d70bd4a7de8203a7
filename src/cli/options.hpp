// Commands of the command line and their options. Only options.cpp, app.cpp and manual/outline.cpp include CLI11, since
// every file that does takes several seconds longer to compile.
#pragma once

#include "cli/command.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class Option;
}

namespace gputomo::cli {

/// The ways in which a command can be used, such as with a file and with a capture. Some options have an effect in only
/// some of them. One that is given and has none is refused, because its user would believe that it had.
class Ways {
public:
    /// `texts` name the ways in messages; the bit 1 << i of a set of ways means texts[i].
    explicit Ways(std::vector<std::string> texts) : texts_(std::move(texts)) {}

    void limit(CLI::Option& option, unsigned ways) { limited_.push_back({&option, ways}); }
    /// Throws InputError that names an option without effect in `way`, a single bit. Options are known to be given only
    /// when the command line was parsed.
    void check(unsigned way) const;

private:
    struct Limited {
        CLI::Option* option;
        unsigned ways;
    };
    [[nodiscard]] std::string text_of(unsigned ways) const;

    std::vector<std::string> texts_;
    std::vector<Limited> limited_;
};

/// One option of a command. Members that CLI11 also has are named and behave as there; each returns the option itself.
///
/// The type of the variable decides what is accepted. A whole number must fit its type, a number must be finite, and a
/// text must not be empty.
class Option {
public:
    explicit Option(CLI::Option& option) : option_(&option) {}

    Option& required();
    /// Shows the variable's present value as the default.
    Option& capture_default_str();
    /// Splits a value into several at this character.
    Option& delimiter(char separator);
    /// Takes one value each time that the option is given.
    Option& one_value_each();
    Option& expected(int least, int most);
    Option& needs(const Option& other);
    Option& excludes(const Option& other);

    Option& member_of(const std::vector<std::string>& words);
    Option& positive();
    Option& non_negative();
    Option& range(double least, double most);
    /// The option has an effect in these ways to use the command only.
    Option& only_for(Ways& ways, unsigned in);

private:
    CLI::Option* option_;
};

/// A command that it adds to `parent` on construction.
class Command {
public:
    Command(CLI::App& parent, const std::string& name, const std::string& help);
    Command(Command& parent, const std::string& name, const std::string& help);

    /// Options write what the user gives to a variable, which must live until the command line is parsed.
    Option add_option(const std::string& name, std::string& variable, const std::string& help);
    Option add_option(const std::string& name, std::filesystem::path& variable, const std::string& help);
    Option add_option(const std::string& name, int& variable, const std::string& help);
    Option add_option(const std::string& name, std::int64_t& variable, const std::string& help);
    Option add_option(const std::string& name, std::uint64_t& variable, const std::string& help);
    Option add_option(const std::string& name, double& variable, const std::string& help);
    Option add_option(const std::string& name, std::optional<int>& variable, const std::string& help);
    Option add_option(const std::string& name, std::optional<double>& variable, const std::string& help);
    Option add_option(const std::string& name, std::vector<int>& variable, const std::string& help);
    Option add_option(const std::string& name, std::vector<std::string>& variable, const std::string& help);
    /// Takes the arguments of another program, which may be empty.
    Option add_command_line(const std::string& name, std::vector<std::string>& variable, const std::string& help);
    Option add_flag(const std::string& name, bool& variable, const std::string& help);

    /// Adds --quiet and --verbose, which set out::verbosity().
    void add_verbosity();
    void require_subcommand();
    /// Sets `action` to `body` when the user chose this command.
    void runs(Action& action, Action body);

private:
    CLI::App* app_;
};

}  // namespace gputomo::cli
