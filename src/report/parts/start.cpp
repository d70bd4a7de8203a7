#include "report/parts/start.hpp"

#include "report/parts/text.hpp"

#include <fmt/format.h>

namespace gputomo::report {

std::string page_start(std::string_view title) {
    return fmt::format(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
        "content='width=device-width,initial-scale=1'><title>gputomo: "
        "{0}</title><style>{1}</style><h1>{0}</h1>",
        escaped(title), page_css());
}

}  // namespace gputomo::report
