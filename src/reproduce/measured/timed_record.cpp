#include "reproduce/measured/timed_record.hpp"

#include <chrono>
#include <exception>
#include <string>

namespace gputomo::reproduce {

scan::Record timed_record(std::string_view id, const std::function<void(results::Outcome&)>& measure) {
    scan::Record record{.id = std::string(id), .status = scan::Status::done, .seconds = 0, .error = {}, .outcome = {}};
    const auto begin = std::chrono::steady_clock::now();
    try {
        measure(record.outcome);
    } catch (const std::exception& e) {
        record.status = scan::status_of(e);
        record.error = e.what();
    }
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return record;
}

}  // namespace gputomo::reproduce
