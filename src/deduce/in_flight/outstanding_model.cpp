#include "deduce/in_flight/outstanding_model.hpp"

#include "units/warp.hpp"

#include <algorithm>
#include <cstddef>

namespace gputomo::deduce {
namespace {

int divided(int value, int by) { return (value + by - 1) / by; }

int active_threads(const OutstandingLaunch& launch, int warp) {
    return std::min(launch.active_lanes, launch.threads - warp * kWarpSize);
}
int lines_of(const OutstandingLaunch& launch, int active) { return divided(active, launch.threads_per_line); }
int sectors_of(const OutstandingLaunch& launch, int active) {
    const int whole = active / launch.threads_per_line;
    return whole * std::min(launch.sectors_per_line, launch.threads_per_line) +
           std::min(launch.sectors_per_line, active % launch.threads_per_line);
}

int units_of_warp(const OutstandingLaunch& launch, OutstandingUnit unit, int active) {
    switch (unit) {
        case OutstandingUnit::none: break;
        case OutstandingUnit::threads: return active;
        case OutstandingUnit::sectors: return sectors_of(launch, active);
        case OutstandingUnit::lines: return lines_of(launch, active);
        case OutstandingUnit::instructions: return 1;
    }
    return 0;
}

/// A table of outstanding requests whose entries are released in the order in which they were taken.
class Table {
public:
    explicit Table(int entries) : released_(static_cast<std::size_t>(std::max(entries, 0)), 0) {}
    [[nodiscard]] bool unlimited() const { return released_.empty(); }
    /// The cycle at which the next entry is free.
    [[nodiscard]] double free_at() const { return released_.empty() ? 0 : released_[next_]; }
    void take_until(double when) {
        if (released_.empty()) return;
        released_[next_] = when;
        if (++next_ == released_.size()) next_ = 0;
    }

private:
    std::vector<double> released_;
    std::size_t next_ = 0;
};

/// Entries that each line of a full warp occupies.
int units_of_line(const OutstandingLaunch& launch, OutstandingUnit unit) {
    return std::max(1, units_of_warp(launch, unit, launch.active_lanes) / lines_of(launch, launch.active_lanes));
}

/// Requests that the table holds: instructions, or lines with all their entries. 0, which stands for no limit, if the
/// whole launch fits.
int table_capacity(const OutstandingModel& model, const OutstandingLaunch& launch) {
    if (model.unit == OutstandingUnit::none || model.entries >= units_of(launch, model.unit)) return 0;
    return model.unit == OutstandingUnit::instructions ? model.entries
                                                       : std::max(1, model.entries / units_of_line(launch, model.unit));
}

struct Warp {
    double next = 0;   ///< earliest issue of its next load
    double there = 0;  ///< when the data of all its loads so far have arrived
    int lines = 0;     ///< of each load
};

/// A fit runs thousands of launches. Each allocates memory a few times only.
class Run {
public:
    Run(const OutstandingModel& model, const OutstandingLaunch& launch)
        : model_(model), launch_(launch), table_(table_capacity(model, launch)) {
        const int warps = divided(launch.threads, kWarpSize);
        warps_.reserve(static_cast<std::size_t>(warps));
        for (int warp = 0; warp < warps; ++warp)
            warps_.push_back({.lines = lines_of(launch, active_threads(launch, warp))});
        if (model.warp_loads > 0) done_.resize(warps_.size() * static_cast<std::size_t>(std::max(launch.loads, 0)));
    }

    double latest() {
        for (int load = 0; load < launch_.loads; ++load)
            for (std::size_t i = 0; i < warps_.size(); ++i) issue(i, load);
        return end();
    }

private:
    /// Warps resume in the order in which their data arrive, and share the issue slots.
    [[nodiscard]] double end() {
        std::ranges::sort(warps_, {}, &Warp::there);
        const double resume = model_.warp_resume + launch_.loads * model_.load_resume;
        double issued = 0, latest = 0;
        for (const Warp& warp : warps_) {
            issued = std::max(issued, warp.there) + resume;
            latest = std::max({latest, issued, warp.there + launch_.loads * model_.use_latency});
        }
        return latest;
    }

    void issue(std::size_t number, int load) {
        Warp& warp = warps_[number];
        double at = std::max(warp.next, issued_ + model_.issue);
        double* const done = done_.data() + number * static_cast<std::size_t>(launch_.loads);
        if (model_.warp_loads > 0 && load >= model_.warp_loads) at = std::max(at, done[load - model_.warp_loads]);
        // A warp that waits for its own loads does not block the issue of other warps.
        issued_ = std::max(issued_ + model_.issue, warp.next);
        warp.next = at + std::max(model_.gap, (warp.lines - 1) * model_.spacing);
        const double served = serve(warp.lines, at);
        warp.there = std::max(warp.there, served);
        if (model_.warp_loads > 0) done[load] = served;
    }

    /// Cycle at which the last of the lines is served. An instruction that occupies one entry waits for it as a whole;
    /// lines, sectors and threads proceed one by one as entries become free.
    double serve(int lines, double at) {
        const bool whole = model_.unit == OutstandingUnit::instructions;
        if (whole) at = std::max(at, table_.free_at());
        if (whole || table_.unlimited()) {
            const double done = serve_all(lines, at);
            if (whole) table_.take_until(done);
            return done;
        }
        double done = at;
        for (int line = 0; line < lines; ++line) {
            server_ = std::max({server_, at + line * model_.spacing, table_.free_at()}) + model_.service;
            done = server_ + model_.latency;
            table_.take_until(done);
        }
        return done;
    }

    /// Completion of the last of `lines` that nothing but the server delays: it waits for the service of all the others
    /// and for its own arrival.
    double serve_all(int lines, double at) {
        server_ = std::max(std::max(server_, at) + lines * model_.service,
                           at + (lines - 1) * model_.spacing + model_.service);
        return server_ + model_.latency;
    }

    const OutstandingModel& model_;
    const OutstandingLaunch& launch_;
    Table table_;
    std::vector<Warp> warps_;
    std::vector<double> done_;  ///< completion of each load, warp by warp, if a warp's loads in flight are limited
    double issued_ = 0;
    double server_ = 0;
};

}  // namespace

std::string_view name_of(OutstandingUnit unit) {
    constexpr std::string_view kNames[] = {"none", "threads", "sectors", "lines", "instructions"};
    return kNames[static_cast<std::size_t>(unit)];
}

int units_of(const OutstandingLaunch& launch, OutstandingUnit unit) {
    int units = 0;
    for (int warp = 0; warp * kWarpSize < launch.threads; ++warp)
        units += units_of_warp(launch, unit, active_threads(launch, warp));
    return units * launch.loads;
}

double OutstandingModel::predict(const OutstandingLaunch& launch) const {
    return overhead + Run(*this, launch).latest();
}

}  // namespace gputomo::deduce
