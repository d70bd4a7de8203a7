// How long this thread has computed. On a busy host that is less than the time that passes, and on an idle one what a
// simulation takes.
#pragma once

#include <chrono>
#include <ctime>

namespace gputomo {

[[nodiscard]] inline std::chrono::nanoseconds thread_processor_time() {
    std::timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace gputomo
