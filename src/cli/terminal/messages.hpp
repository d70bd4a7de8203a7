// The one place that prints for people: results to standard output, messages to standard error. What comes from files,
// names and arguments may hold control characters, with which a terminal can be made to show anything. They are
// printed as escapes.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace gputomo::cli::out {

/// How much a command prints besides its results.
enum class Verbosity : std::uint8_t {
    quiet,   ///< no progress and no notes
    normal,  ///< one line of progress on a terminal
    verbose  ///< each step with its time, also where no terminal is
};
/// How much this process prints, which --quiet and --verbose set.
[[nodiscard]] Verbosity& verbosity();

/// The text with control characters, and bytes that are no UTF-8, as escapes such as \x1b. Newlines and tabs stay.
[[nodiscard]] std::string printable(std::string_view text);
/// The text as a cell of a table shows it: newlines and tabs are escaped, too.
[[nodiscard]] std::string one_line(std::string_view text);

/// Prints results to standard output.
void print_text(std::string_view text);
/// Prints results in sections: on a terminal, headings are bold and warnings yellow. NO_COLOR (no-color.org) and
/// TERM=dumb leave them plain. The first line is a heading, and so is each line that stands above indented ones.
void print_sections(std::string_view text);
/// Prints a JSON document to standard output. Its writer has escaped all control characters but U+007F to U+009F, which
/// become escapes of JSON.
void print_json_text(std::string_view text);
/// Prints a message to standard error, after all results that were printed before: both may go to one file.
void print_message(std::string_view text);

template <class... T>
void print(fmt::format_string<T...> format, T&&... arguments) {
    print_text(fmt::format(format, std::forward<T>(arguments)...));
}
/// Prints a line of progress, or where results are.
template <class... T>
void say(fmt::format_string<T...> format, T&&... arguments) {
    print_message(fmt::format(format, std::forward<T>(arguments)...) + "\n");
}
template <class... T>
void note(fmt::format_string<T...> format, T&&... arguments) {
    if (verbosity() == Verbosity::quiet) return;
    print_message("note: " + fmt::format(format, std::forward<T>(arguments)...) + "\n");
}
/// Prints what a step did and how long it took, where --verbose asks for it.
template <class... T>
void detail(fmt::format_string<T...> format, T&&... arguments) {
    if (verbosity() == Verbosity::verbose) print_message(fmt::format(format, std::forward<T>(arguments)...) + "\n");
}
template <class... T>
void warn(fmt::format_string<T...> format, T&&... arguments) {
    print_message("warning: " + fmt::format(format, std::forward<T>(arguments)...) + "\n");
}

}  // namespace gputomo::cli::out
