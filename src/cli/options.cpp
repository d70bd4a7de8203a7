#include "cli/options.hpp"

#include "cli/terminal/messages.hpp"

#include "units/error.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>

namespace gputomo::cli {
namespace {

/// What is wrong with a value, for CLI11, which puts the option's name before it.
std::string found(const std::string& text, std::string_view expected) {
    return fmt::format("found {}; expected {}", text.empty() ? "nothing" : text, expected);
}

/// Reads the whole of the text, in hexadecimal after 0x. A text that is read replaces it in decimal: CLI11 would take
/// digits after a 0 as octal, and wrap a number around that its type does not hold.
template <class T>
std::string whole_number(std::string& text) {
    using Limits = std::numeric_limits<T>;
    const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    T value{};
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + (is_hexadecimal ? 2 : 0), end, value, is_hexadecimal ? 16 : 10);
    if (read.ptr != end || read.ec == std::errc::invalid_argument)
        return found(text,
                     std::is_unsigned_v<T> && text.starts_with('-') ? "a whole number of 0 or more" : "a whole number");
    if (read.ec == std::errc::result_out_of_range)
        return found(text, fmt::format("a whole number from {} to {}", Limits::min(), Limits::max()));
    text = fmt::format("{}", value);
    return {};
}

std::string finite_number(std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ptr == end && read.ec == std::errc{} && std::isfinite(value) ? std::string() : found(text, "a number");
}

std::string not_empty(std::string& text) { return text.empty() ? found(text, "a text that is not empty") : ""; }

/// Adds the option with the check that the type of its variable asks for, before any other.
template <class T>
Option checked(CLI::App& app, const std::string& name, T& variable, const std::string& help,
               std::string (*check)(std::string&)) {
    auto* const option = app.add_option(name, variable, help);
    option->transform(CLI::Validator(check, ""));
    return Option(*option);
}

Option& check_number(Option& option, CLI::Option& of, const std::function<bool(double)>& allows,
                     const std::string& expected) {
    of.check(
        [allows, expected](const std::string& text) {
            double value = 0;
            std::from_chars(text.data(), text.data() + text.size(), value);
            return allows(value) ? std::string() : found(text, expected);
        },
        "");
    return option;
}

}  // namespace

std::string Ways::text_of(unsigned ways) const {
    std::string text;
    for (std::size_t i = 0; i < texts_.size(); ++i)
        if ((ways >> i & 1U) != 0) text += (text.empty() ? "" : ", or ") + texts_[i];
    return text;
}

void Ways::check(unsigned way) const {
    for (const auto& [option, ways] : limited_)
        if (option->count() > 0 && (ways & way) == 0)
            throw InputError(fmt::format("{}: has no effect with {}; expected it with {}", option->get_name(),
                                         text_of(way), text_of(ways)));
}

Option& Option::required() { return option_->required(), *this; }
Option& Option::capture_default_str() { return option_->capture_default_str(), *this; }
Option& Option::delimiter(char separator) { return option_->delimiter(separator), *this; }
Option& Option::one_value_each() { return option_->allow_extra_args(false), *this; }
Option& Option::expected(int least, int most) { return option_->expected(least, most), *this; }
Option& Option::needs(const Option& other) { return option_->needs(other.option_), *this; }
Option& Option::excludes(const Option& other) { return option_->excludes(other.option_), *this; }

Option& Option::only_for(Ways& ways, unsigned in) { return ways.limit(*option_, in), *this; }

Option& Option::member_of(const std::vector<std::string>& words) { return option_->check(CLI::IsMember(words)), *this; }
Option& Option::positive() {
    return check_number(
        *this, *option_, [](double value) { return value > 0; }, "a number above 0");
}
Option& Option::non_negative() {
    return check_number(
        *this, *option_, [](double value) { return value >= 0; }, "a number of 0 or more");
}
Option& Option::range(double least, double most) {
    return check_number(
        *this, *option_, [=](double value) { return value >= least && value <= most; },
        fmt::format("a number from {} to {}", least, most));
}
Command::Command(CLI::App& parent, const std::string& name, const std::string& help)
    : app_(parent.add_subcommand(name, help)) {}
Command::Command(Command& parent, const std::string& name, const std::string& help)
    : Command(*parent.app_, name, help) {}

Option Command::add_option(const std::string& name, std::string& variable, const std::string& help) {
    return checked(*app_, name, variable, help, not_empty);
}
Option Command::add_option(const std::string& name, std::filesystem::path& variable, const std::string& help) {
    return checked(*app_, name, variable, help, not_empty);
}
Option Command::add_option(const std::string& name, int& variable, const std::string& help) {
    return checked(*app_, name, variable, help, whole_number<int>);
}
Option Command::add_option(const std::string& name, std::int64_t& variable, const std::string& help) {
    return checked(*app_, name, variable, help, whole_number<std::int64_t>);
}
Option Command::add_option(const std::string& name, std::uint64_t& variable, const std::string& help) {
    return checked(*app_, name, variable, help, whole_number<std::uint64_t>);
}
Option Command::add_option(const std::string& name, double& variable, const std::string& help) {
    return checked(*app_, name, variable, help, finite_number);
}
Option Command::add_option(const std::string& name, std::optional<int>& variable, const std::string& help) {
    return checked(*app_, name, variable, help, whole_number<int>);
}
Option Command::add_option(const std::string& name, std::optional<double>& variable, const std::string& help) {
    return checked(*app_, name, variable, help, finite_number);
}
Option Command::add_option(const std::string& name, std::vector<int>& variable, const std::string& help) {
    return checked(*app_, name, variable, help, whole_number<int>);
}
Option Command::add_option(const std::string& name, std::vector<std::string>& variable, const std::string& help) {
    return checked(*app_, name, variable, help, not_empty);
}
Option Command::add_command_line(const std::string& name, std::vector<std::string>& variable, const std::string& help) {
    return Option(*app_->add_option(name, variable, help));
}
void Command::add_verbosity() {
    auto* const quiet = app_->add_flag_callback(
        "--quiet", [] { out::verbosity() = out::Verbosity::quiet; }, "print no progress and no notes");
    app_->add_flag_callback(
            "--verbose", [] { out::verbosity() = out::Verbosity::verbose; }, "print each step and how long it took")
        ->excludes(quiet);
}

Option Command::add_flag(const std::string& name, bool& variable, const std::string& help) {
    return Option(*app_->add_flag(name, variable, help));
}

void Command::require_subcommand() { app_->require_subcommand(1); }
void Command::runs(Action& action, Action body) {
    app_->callback([&action, body = std::move(body)] { action = body; });
}

}  // namespace gputomo::cli
