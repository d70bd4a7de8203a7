// Numbered pieces of work, spread over threads.
#pragma once

#include <functional>

namespace gputomo {

/// Calls work(0) ... work(count - 1) from several threads and progress(done) after each, one call at a time. Rethrows
/// the first exception of either, after which no further piece is begun.
void spread(int count, unsigned threads, const std::function<void(int)>& work,
            const std::function<void(int done)>& progress);

}  // namespace gputomo
