#include "cli/terminal/ending.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

namespace gputomo::cli {

void throw_unless_done(const scan::Scan& scan, std::string_view when_interrupted) {
    if (scan.interrupted()) throw Interrupted(std::string(when_interrupted));
    const auto* failure = scan.first_failure();
    if (failure == nullptr) return;
    const auto what = fmt::format("experiment {} failed: {}", failure->id, failure->error);
    if (failure->status == scan::Status::timed_out) throw TimeLimitError(what);
    if (failure->status == scan::Status::device_failed) throw DeviceError(what);
    throw Error(what);
}

}  // namespace gputomo::cli
