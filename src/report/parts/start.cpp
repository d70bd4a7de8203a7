#include "report/parts/start.hpp"

#include "report/parts/text.hpp"

#include <fmt/format.h>

namespace gputomo::report {

std::string page_head(std::string_view title) {
    return fmt::format(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
        "content='width=device-width,initial-scale=1'><title>gputomo: {}</title><style>{}</style>",
        escaped(title), page_css());
}

std::string page_start(std::string_view title) { return page_head(title) + fmt::format("<h1>{}</h1>", escaped(title)); }

}  // namespace gputomo::report
