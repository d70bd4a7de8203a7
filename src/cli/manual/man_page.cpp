#include "cli/manual/outline.hpp"
#include "cli/terminal/exits.hpp"
#include "cli/terminal/version.hpp"

#include <fmt/format.h>

#include <cctype>

namespace gputomo::cli {
namespace {

/// Escapes text for roff: minus signs stay ASCII, backslashes are kept, and no line begins like a roff request.
std::string roff(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\')
            out += "\\e";
        else if (text[i] == '-')
            out += "\\-";
        else if ((text[i] == '.' || text[i] == '\'') && i == 0)
            out += fmt::format("\\&{}", text[i]);
        else
            out += text[i];
    }
    return out;
}

std::string upper(std::string text) {
    for (auto& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::string placeholder(const OutlineOption& option) {
    return fmt::format("\\fI{}\\fR{}", roff(upper(option.positional ? option.name : option.name.substr(2))),
                       option.several ? " ..." : "");
}

std::string usage(const OutlineCommand& command) {
    std::string out = fmt::format("\\fBgputomo {}\\fR", roff(command.name));
    for (const auto& option : command.options)
        if (option.positional) out += fmt::format(" {}", placeholder(option));
    for (const auto& option : command.options)
        if (!option.positional && option.required)
            out += fmt::format(" \\fB{}\\fR {}", roff(option.name), placeholder(option));
    return out + " [\\fIoptions\\fR]\n";
}

std::string option_text(const OutlineOption& option) {
    const auto name = option.positional
                          ? placeholder(option)
                          : fmt::format("\\fB{}\\fR{}", roff(option.name),
                                        option.takes_value ? fmt::format(" {}", placeholder(option)) : "");
    const auto fallback =
        option.takes_value && !option.fallback.empty() ? fmt::format(" (default: {})", roff(option.fallback)) : "";
    const auto help = roff(option.help);
    return fmt::format(".TP\n{}\n{}{}\n", name, help.empty() ? "see above" : help, fallback);
}

std::string command_text(const OutlineCommand& command) {
    auto out = fmt::format(".SS {}\n{}.PP\n{}.\n", roff(command.name), usage(command), roff(command.help));
    for (const auto& option : command.options)
        if (option.name != "--help") out += option_text(option);
    return out;
}

}  // namespace

std::string man_page(const std::vector<OutlineCommand>& commands) {
    std::string out = fmt::format(
        ".TH GPUTOMO 1 \"\" \"gputomo {0}\" \"User Commands\"\n.SH NAME\ngputomo \\- sees inside a GPU by timing "
        "it\n.SH SYNOPSIS\n\\fBgputomo\\fR "
        "\\fICOMMAND\\fR [\\fIoptions\\fR]\n",
        version());
    out +=
        ".SH DESCRIPTION\n"
        "Runs microbenchmarks through the CUDA driver and deduces the undocumented structure of the GPU from their "
        "timings. "
        "Writes one machine description in JSON, with a confidence for each value. "
        "Without a GPU, simulated GPUs run the same kernels. "
        "Progress goes to standard error, results to standard output.\n"
        ".SH COMMANDS\n";
    for (const auto& command : commands) out += command_text(command);
    out += ".SH EXIT STATUS\n";
    for (const auto& exit : kExitMeanings)
        out += fmt::format(".TP\n{}\n{}\n", static_cast<int>(exit.code), roff(exit.meaning));
    return out +
           ".SH EXAMPLES\n"
           ".TP\ngputomo scan\n"
           "measures the first GPU, or a simulated one, and writes scan/machine.json, scan/scan.json and "
           "scan/report.html\n"
           ".TP\ngputomo report scan/machine.json sim:gtx980 \\-\\-out compared.html\n"
           "compares it with a simulated GTX 980\n"
           ".TP\ngputomo reproduce wong2010 \\-\\-out pages\n"
           "measures a paper's GPU again in simulation, and compares each published value with the measured one\n";
}

}  // namespace gputomo::cli
