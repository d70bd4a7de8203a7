// Commands of the command line and their options. Only options.cpp, app.cpp and manual/outline.cpp include CLI11, since
// every file that does takes several seconds longer to compile.
#pragma once

#include "cli/command.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace gputomo::cli {

/// One option of a command. Members that CLI11 also has are named and behave as there; each returns the option itself.
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
    /// Refuses what is no number of 0 or more, also nan, which CLI11 accepts as a number in any range.
    Option& non_negative();
    Option& range(int least, int most);
    Option& range(double least, double most);
    /// Refuses negative numbers, which CLI11 would wrap around to large unsigned ones.
    Option& seed();
    /// Refuses nan, which CLI11 accepts as a number in any range. `expected` says for people what the option takes.
    Option& number(const std::string& expected);

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
    Option add_flag(const std::string& name, bool& variable, const std::string& help);

    void require_subcommand();
    /// Sets `action` to `body` when the user chose this command.
    void runs(Action& action, Action body);

private:
    CLI::App* app_;
};

}  // namespace gputomo::cli
