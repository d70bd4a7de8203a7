// Matrix products of a warp group (wgmma): their latency and rate by shape, types and the place of A.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "measure/warpgroup/product_timing.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::experiments {
namespace warpgroup_products {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.95;
/// Columns of B. Between them, times grow evenly: below 64 columns, reading A from shared memory takes longer than
/// multiplying.
constexpr std::array kColumns = {8, 16, 32, 64, 256};
/// Random words with small exponents of all types, and zeros.
constexpr std::uint32_t kRandom = 0xBFBFBFBF, kZeros = 0;

/// Slowdowns below this are no limit of the register file, but another one: the clock reads and the loop.
constexpr double kSlower = 1.2;

/// Arithmetic of another warp group beside products.
void measure_beside(Context& context, Outcome& outcome) {
    if (!executes_beside_products(context.device)) return;
    const auto random = time_beside_products(context.device, kRandom),
               zeros = time_beside_products(context.device, kZeros);
    results::Trace trace{.name = "warpgroup_products/beside", .experiment = "warpgroup_products"};
    trace.columns = {{"random", "flag", {}}, {"alone", "cycles", {}}, {"beside", "cycles", {}}};
    for (const auto& [is_random, time] : {std::pair{0, zeros}, std::pair{1, random}})
        trace.add_row(is_random, time.alone, time.beside);
    outcome.traces.push_back(std::move(trace));
    if (random.beside < kSlower * random.alone) return;
    outcome.estimates.push_back(
        decided_real("issue.beside_products",
                     {random.beside, std::min(random.beside, zeros.beside), std::max(random.beside, zeros.beside)},
                     {"warpgroup_products: integer multiplications of a warp while another warp group multiplies "
                      "matrices",
                      kConfidence}));
}

/// A value with random numbers; its interval reaches to that with zeros.
void add(Outcome& outcome, const std::string& path, double random, double zeros, const char* method) {
    const double least = std::min(random, zeros), most = std::max(random, zeros);
    const Evidence evidence{method, kConfidence};
    outcome.estimates.push_back(path.ends_with("latency") ? decided_integer(path, {random, least, most}, evidence)
                                                          : decided_real(path, {random, least, most}, evidence));
}

/// Times all shapes of these types into a trace of their own.
void measure_products(Context& context, bool sparse, double& done, Outcome& outcome) {
    results::Trace trace{.name = sparse ? "warpgroup_products/sparse" : "warpgroup_products/products",
                         .experiment = "warpgroup_products"};
    trace.columns = {{"type", "index", {}},  {"columns", "count", {}},  {"registers", "flag", {}},
                     {"random", "flag", {}}, {"latency", "cycles", {}}, {"interval", "cycles", {}}};
    trace.plot = {.title = fmt::format("Cycles from one product of a warp group to the next against its columns, with "
                                       "{} in shared memory (0) and in registers (1)",
                                       sparse ? "a sparse A" : "A"),
                  .x = "columns",
                  .y = {"interval"},
                  .split = "registers"};
    const auto& types = sparse ? sparse_product_types() : product_types();
    const double all =
        static_cast<double>((product_types().size() + sparse_product_types().size()) * kColumns.size() * 2);
    for (std::size_t type = 0; type < types.size(); ++type)
        for (const bool in_registers : {false, true})
            for (const int columns : kColumns) {
                const ProductShape shape{types[type], columns, in_registers, sparse};
                const std::string operation = operation_of(shape);
                context.progress(done++ / all, operation);
                const ProductTime random = time_products(context.device, shape, kRandom),
                                  zeros = time_products(context.device, shape, kZeros);
                for (const auto& [is_random, time] : {std::pair{0, zeros}, std::pair{1, random}})
                    trace.add_row(static_cast<double>(type), columns, in_registers ? 1 : 0, is_random, time.latency,
                                  time.interval);
                if (random.interval <= 0 || random.latency <= 0) continue;
                add(outcome, fmt::format("operations[{}].latency", operation), random.latency, zeros.latency,
                    "warpgroup_products: a product and a wait for it, less a wait alone");
                add(outcome, fmt::format("operations[{}].throughput", operation), kProductThreads / random.interval,
                    kProductThreads / (zeros.interval > 0 ? zeros.interval : random.interval),
                    "warpgroup_products: five products of a warp group against one");
            }
    outcome.traces.push_back(std::move(trace));
}

Outcome measure(Context& context) {
    if (!executes_warpgroup_products(context.device)) return {};
    Outcome outcome;
    double done = 0;
    for (const bool sparse : {false, true}) measure_products(context, sparse, done, outcome);
    measure_beside(context, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace warpgroup_products

Experiment warpgroup_products_experiment() {
    return {
        .id = "warpgroup_products",
        .title = "matrix products of a warp group (wgmma): latency and rate by shape, types, place of A and sparsity",
        .source = "PTX ISA 9.7.15; Luo et al. 2024 (arXiv 2402.13499)",
        .method = "warpgroup-products",
        .explanation =
            "One warp group multiplies matrices, first once and then five times before it waits. The difference "
            "is the time from one product to the next; one product and a wait for it, less the wait alone, is "
            "the latency. Matrices hold zeros and random numbers, A is in shared memory or in registers, and it "
            "is dense or sparse. A second warp group multiplies integers meanwhile. The time between two of them "
            "is the share of the register file that products leave.",
        .needs = {},
        .after = {},
        .provides = {"operations[*].latency", "operations[*].throughput", "issue.beside_products"},
        .run = warpgroup_products::run};
}

}  // namespace gputomo::experiments
