#include "measure/workload/workload.hpp"

#include "measure/workload/embedded_files.hpp"
#include "measure/workload/workload_data.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <stdexcept>

namespace gputomo::measure {
namespace {

using namespace workload_data;

constexpr std::string_view kVolkov = "Volkov 2016, 3.8, 3.10";
constexpr std::array kWorkloads{
    Workload{.id = "vector_add",
             .title = "sum of two vectors",
             .source = kVolkov,
             .file = "vector_add",
             .kernel = "vector_add",
             .bytes = 12,
             .data = vector_add},
    Workload{.id = "permute_identity",
             .title = "identity permutation",
             .source = kVolkov,
             .file = "permute",
             .kernel = "permute",
             .bytes = 12,
             .data = permute_identity},
    Workload{.id = "permute_random",
             .title = "random permutation, with repetition",
             .source = kVolkov,
             .file = "permute",
             .kernel = "permute",
             .bytes = 12,
             .data = permute_random,
             .scattered_load = 1},
    Workload{.id = "vector_abs_positive",
             .title = "absolute values of positive numbers, nothing to write",
             .source = kVolkov,
             .file = "vector_abs",
             .kernel = "vector_abs",
             .bytes = 4,
             .data = vector_abs_positive,
             .branches = true},
    Workload{.id = "vector_abs_negative",
             .title = "absolute values of negative numbers, all written",
             .source = kVolkov,
             .file = "vector_abs",
             .kernel = "vector_abs",
             .bytes = 8,
             .data = vector_abs_negative},
    Workload{.id = "black_scholes",
             .title = "option prices",
             .source = kVolkov,
             .file = "black_scholes",
             .kernel = "black_scholes",
             .bytes = 20,
             .data = black_scholes,
             .branches = true},
    Workload{.id = "black_scholes_fast",
             .title = "option prices with fast math",
             .source = kVolkov,
             .file = "black_scholes_fast",
             .kernel = "black_scholes",
             .bytes = 20,
             .data = black_scholes,
             .branches = true},
    Workload{.id = "sgemm",
             .title = "matrix multiplication",
             .source = "gputomo",
             .file = "sgemm",
             .kernel = "sgemm",
             .threads = 256,
             .grid_x = kColumnBlocks,
             .flops = 2.0 * 16 * kDepth,
             .data = sgemm,
             .trips = kDepth / 16.0,
             .cached = 1},
    Workload{.id = "reduce",
             .title = "sums of 4096 numbers",
             .source = "gputomo",
             .file = "reduce",
             .kernel = "reduce",
             .threads = kSumThreads,
             .bytes = 4.0 * kSummed / kSumThreads,
             .data = reduce},
};

}  // namespace

std::span<const Workload> workloads() { return kWorkloads; }

const Workload& find_workload(std::string_view id) {
    std::vector<std::string_view> ids;
    for (const auto& workload : kWorkloads) {
        if (workload.id == id) return workload;
        ids.push_back(workload.id);
    }
    throw InputError(fmt::format("kernel '{}': expected one of {}", id, fmt::join(ids, ", ")));
}

std::string_view ptx_of(const Workload& workload) {
    for (const auto& file : embedded_kernels())
        if (file.name == workload.file) return file.text;
    throw std::logic_error(fmt::format("kernels/{}.ptx is not among the embedded files", workload.file));
}

}  // namespace gputomo::measure
