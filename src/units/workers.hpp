// Spreads numbered pieces of work over threads.
#pragma once

#include <functional>

namespace gputomo {

/// Calls work(0) ... work(count - 1) from `threads` threads, and progress(done) after each piece; calls of `progress`
/// never overlap. After an exception of either function no further piece starts, and the first exception is rethrown.
void spread(int count, unsigned threads, const std::function<void(int)>& work,
            const std::function<void(int done)>& progress);

}  // namespace gputomo
