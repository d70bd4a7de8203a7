#include "capture/name_filter.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <array>

namespace gputomo::capture {

NameFilter::NameFilter(const std::string& option, const std::string& expression) : all_(expression.empty()) {
    if (all_) return;
    const int result = regcomp(&compiled_, expression.c_str(), REG_EXTENDED | REG_NOSUB);
    if (result == 0) return;
    std::array<char, 200> reason{};
    regerror(result, &compiled_, reason.data(), reason.size());
    throw InputError(
        fmt::format("{} {}: {}; expected a POSIX extended regular expression", option, expression, reason.data()));
}

NameFilter::~NameFilter() {
    if (!all_) regfree(&compiled_);
}

bool NameFilter::matches(const std::string& name) const {
    return all_ || regexec(&compiled_, name.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace gputomo::capture
