#include "cli/options.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>
#include <utility>

namespace gputomo::cli {

Option& Option::required() { return option_->required(), *this; }
Option& Option::capture_default_str() { return option_->capture_default_str(), *this; }
Option& Option::delimiter(char separator) { return option_->delimiter(separator), *this; }
Option& Option::one_value_each() { return option_->allow_extra_args(false), *this; }
Option& Option::expected(int least, int most) { return option_->expected(least, most), *this; }
Option& Option::needs(const Option& other) { return option_->needs(other.option_), *this; }
Option& Option::excludes(const Option& other) { return option_->excludes(other.option_), *this; }

Option& Option::member_of(const std::vector<std::string>& words) { return option_->check(CLI::IsMember(words)), *this; }
Option& Option::positive() { return option_->check(CLI::PositiveNumber), *this; }
Option& Option::range(int least, int most) { return option_->check(CLI::Range(least, most)), *this; }
Option& Option::range(double least, double most) { return option_->check(CLI::Range(least, most)), *this; }

Option& Option::non_negative() {
    option_->check(
        [](const std::string& text) {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            const bool whole = end != text.c_str() && *end == '\0';
            return whole && value >= 0 ? std::string() : "found " + text + "; expected a number of 0 or more";
        },
        "");
    return *this;
}

Option& Option::seed() {
    option_->check(
        [](const std::string& text) {
            return text.starts_with('-') ? "found " + text + "; expected a whole number of 0 or more" : std::string();
        },
        "");
    return *this;
}

Option& Option::number(const std::string& expected) {
    option_->check(
        [expected](const std::string& text) {
            return std::isnan(std::strtod(text.c_str(), nullptr)) ? "found " + text + "; expected " + expected
                                                                  : std::string();
        },
        "");
    return *this;
}

Command::Command(CLI::App& parent, const std::string& name, const std::string& help)
    : app_(parent.add_subcommand(name, help)) {}
Command::Command(Command& parent, const std::string& name, const std::string& help)
    : Command(*parent.app_, name, help) {}

Option Command::add_option(const std::string& name, std::string& variable, const std::string& help) {
    return Option(*app_->add_option(name, variable, help));
}
Option Command::add_option(const std::string& name, std::filesystem::path& variable, const std::string& help) {
    return Option(*app_->add_option(name, variable, help));
}
Option Command::add_option(const std::string& name, int& variable, const std::string& help) {
    return Option(*app_->add_option(name, variable, help));
}
Option Command::add_option(const std::string& name, std::int64_t& variable, const std::string& help) {
    return Option(*app_->add_option(name, variable, help));
}
Option Command::add_option(const std::string& name, std::uint64_t& variable, const std::string& help) {
    return Option(*app_->add_option(name, variable, help));
}
Option Command::add_option(const std::string& name, double& variable, const std::string& help) {
    return Option(*app_->add_option(name, variable, help));
}
Option Command::add_option(const std::string& name, std::optional<int>& variable, const std::string& help) {
    return Option(*app_->add_option(name, variable, help));
}
Option Command::add_option(const std::string& name, std::optional<double>& variable, const std::string& help) {
    return Option(*app_->add_option(name, variable, help));
}
Option Command::add_option(const std::string& name, std::vector<int>& variable, const std::string& help) {
    return Option(*app_->add_option(name, variable, help));
}
Option Command::add_option(const std::string& name, std::vector<std::string>& variable, const std::string& help) {
    return Option(*app_->add_option(name, variable, help));
}
Option Command::add_flag(const std::string& name, bool& variable, const std::string& help) {
    return Option(*app_->add_flag(name, variable, help));
}

void Command::require_subcommand() { app_->require_subcommand(1); }
void Command::runs(Action& action, Action body) {
    app_->callback([&action, body = std::move(body)] { action = body; });
}

}  // namespace gputomo::cli
