// Answers of simulations compute products of matrices only where something other than data depends on them.
#include "answer/simulate.hpp"
#include "machine/json.hpp"
#include "sim/completion.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace gputomo::answer {
namespace products_left_out_test {
namespace {

constexpr std::uint64_t kBytes = 4096;

launch::Launch launch_with(const std::string& fixture, const std::string& kernel, std::uint32_t blocks) {
    std::ifstream file(GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/" + fixture, std::ios::binary);
    launch::Launch launch{.code = {std::istreambuf_iterator<char>(file), {}},
                          .kernel = kernel,
                          .grid = {blocks},
                          .block = {32},
                          .buffers = {{.name = "the result", .bytes = kBytes}}};
    launch.arguments.push_back({.offset = 0, .bytes = std::vector<std::byte>(8), .buffer = 0});
    return launch;
}

TEST(AnswersWithoutProducts, AreThoseWithProducts) {
    const auto machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    const Gpu gpu{machine, "h200"};
    // Who asks for memory gets it with its products.
    bool asked = false;
    SimulationRequest whole;
    whole.after = [&](const launch::PlacedLaunch&) { asked = true; };
    for (const auto& launch :
         {launch_with("cluster_products.cubin", "keeps", 2), launch_with("cluster_products.cubin", "hands", 2),
          launch_with("cluster_products.cubin", "fetches", 2), launch_with("hopper.cubin", "chooses", 1),
          launch_with("hopper.cubin", "decides", 1), launch_with("hopper.cubin", "points", 1)}) {
        const Answer left_out = simulate(launch, gpu, {}), computed = simulate(launch, gpu, whole);
        EXPECT_EQ(left_out.time.cycles, computed.time.cycles) << launch.kernel;
        EXPECT_EQ(left_out.work.warp_instructions, computed.work.warp_instructions) << launch.kernel;
        EXPECT_TRUE(std::exchange(asked, false)) << launch.kernel;
    }
}

}  // namespace
}  // namespace products_left_out_test
}  // namespace gputomo::answer
