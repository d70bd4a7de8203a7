// Launches a kernel of a fixture on the simulated GPU.
#pragma once

#include "machine/json.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace gputomo::sim {

/// A simulated H200 and the module of one fixture, for all tests of a file.
class Fixture {
public:
    explicit Fixture(const std::string& name)
        : gpu(make_device(completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine, {})) {
        std::ifstream file(GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/" + name, std::ios::binary);
        std::stringstream bytes;
        bytes << file.rdbuf();
        module = gpu->load(bytes.str());
    }

    /// Launches blocks whose first parameters are buffers, and returns what is in them afterwards.
    template <class Word, class Scalar = std::uint32_t>
    std::vector<std::vector<Word>> run(const std::string& kernel, std::uint32_t threads,
                                       const std::vector<std::vector<Word>>& contents,
                                       const std::vector<Scalar>& scalars = {}, std::uint32_t blocks = 1) const {
        std::vector<device::Buffer> buffers;
        device::Launch launch{.grid = {blocks}, .block = {threads}, .time_limit = std::chrono::seconds(60)};
        for (const auto& words : contents) {
            buffers.emplace_back(*gpu, Bytes(static_cast<std::int64_t>(sizeof(Word) * words.size())));
            buffers.back().write(words);
            launch.arguments.add(buffers.back().address());
        }
        for (const auto scalar : scalars) launch.arguments.add(scalar);
        module->kernel(kernel).launch(launch);
        std::vector<std::vector<Word>> results;
        for (std::size_t i = 0; i < buffers.size(); ++i)
            results.push_back(buffers[i].template read<Word>(contents[i].size()));
        return results;
    }

    std::unique_ptr<SimulatedDevice> gpu;
    std::unique_ptr<device::Module> module;
};

}  // namespace gputomo::sim
