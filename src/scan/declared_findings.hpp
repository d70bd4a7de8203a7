// The findings that an experiment may read: those of the experiments that it declares under `needs` and `after`.
#pragma once

#include "scan/runner.hpp"

#include <span>
#include <string_view>

namespace gputomo::scan {

/// Whether `experiment` declares that it provides `path`. A * in a declaration stands for any map key: "caches.*.line"
/// covers "caches.l1.line", "operations[*].latency" covers "operations[add.s32].latency".
[[nodiscard]] bool provides(const experiments::Experiment& experiment, std::string_view path);

/// A handle on the findings in `records` for `reader`. It holds the estimates of the experiments that the reader needs
/// or comes after, directly or through others. So the reader finds the same in a scan of everything and when it runs
/// alone. Two kinds of estimates are there whichever experiment made them: clock.*, which calibrates all instruments,
/// and paths that the reader itself provides.
/// Looking up any other path throws std::logic_error naming the reader and the path. `plan` holds the experiments that
/// the reader declares, as scan::plan() returns it, and must outlive the handle.
[[nodiscard]] results::Findings declared_findings(const experiments::Experiment& reader,
                                                  std::span<const experiments::Experiment* const> plan,
                                                  std::span<const Record> records);

}  // namespace gputomo::scan
