#include "cli/manual/outline.hpp"
#include "cli/terminal/exits.hpp"

#include <fmt/format.h>

#include <cctype>

namespace gputomo::cli {
namespace {

/// Text for roff: a minus that can be copied, a backslash, and no line that begins as a request does.
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
        GPUTOMO_VERSION);
    out +=
        ".SH DESCRIPTION\nRuns microbenchmarks through the CUDA driver, deduces the undocumented structure of the GPU "
        "from their timings, says how sure it is, "
        "and writes the result as one machine description in JSON. "
        "Where there is no GPU, simulated ones run the same kernels. Progress goes to standard error, results to "
        "standard output.\n.SH COMMANDS\n";
    for (const auto& command : commands) out += command_text(command);
    out += ".SH EXIT STATUS\n";
    for (const auto& exit : kExitMeanings)
        out += fmt::format(".TP\n{}\n{}\n", static_cast<int>(exit.code), roff(exit.meaning));
    return out +
           ".SH EXAMPLES\n.TP\ngputomo scan\nmeasures the first GPU, or a simulated one, and writes scan/machine.json, "
           "scan/scan.json and scan/report.html\n"
           ".TP\ngputomo report scan/machine.json sim:gtx980 \\-\\-out compared.html\nputs it beside another one\n"
           ".TP\ngputomo reproduce wong2010 \\-\\-out pages\nmeasures a paper's GPU again, simulated, and puts each "
           "published value beside the measured one\n";
}

}  // namespace gputomo::cli
