// Chooses kernels by name with a POSIX extended regular expression.
#pragma once

#include <regex.h>

#include <string>

namespace gputomo::capture {

/// Whether a name matches a regular expression anywhere; an empty expression matches all names.
class NameFilter {
public:
    /// Throws InputError, which names the option that the expression comes from, when the expression is none.
    NameFilter(const std::string& option, const std::string& expression);
    ~NameFilter();
    NameFilter(const NameFilter&) = delete;
    NameFilter& operator=(const NameFilter&) = delete;

    [[nodiscard]] bool matches(const std::string& name) const;

private:
    bool all_;
    regex_t compiled_{};
};

}  // namespace gputomo::capture
