// Experiments whose runs a test defines, and a device that can be lost.
#pragma once

#include "../measure/scripted_device.hpp"
#include "experiments/experiment.hpp"
#include "units/error.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gputomo::scan::testing {

inline results::Estimate decided(std::string path, results::Value value) {
    results::Estimate e;
    e.path = std::move(path);
    e.value = std::move(value);
    e.method = "fake, by decree";
    e.confidence = 0.75;
    return e;
}

/// Up to four experiments, "a" to "d". Experiment::run is a plain function, so what each of them does is kept in a
/// static table by its letter. Each declares that it provides shared.latency and shared.banks.
class FakeExperiments {
public:
    using Body = std::function<results::Outcome(experiments::Context&)>;

    FakeExperiments() {
        for (auto& body : bodies()) body = [](experiments::Context&) { return results::Outcome{}; };
    }
    static void body(char letter, Body body) { bodies().at(static_cast<std::size_t>(letter - 'a')) = std::move(body); }
    template <class E>
    static void throws(char letter, const std::string& what) {
        body(letter, [what](experiments::Context&) -> results::Outcome { throw E(what); });
    }
    static void finds(char letter, const std::vector<results::Estimate>& estimates) {
        body(letter, [estimates](experiments::Context&) { return results::Outcome{.estimates = estimates}; });
    }
    static experiments::Experiment make(char letter, std::vector<std::string_view> needs = {}) {
        static constexpr std::array<std::string_view, 4> kIds{"a", "b", "c", "d"};
        static constexpr std::array<results::Outcome (*)(experiments::Context&), 4> kRuns{run<0>, run<1>, run<2>,
                                                                                          run<3>};
        const auto index = static_cast<std::size_t>(letter - 'a');
        return {.id = kIds.at(index),
                .title = "A fake",
                .source = "no paper",
                .needs = std::move(needs),
                .provides = {"shared.latency", "shared.banks"},
                .run = kRuns.at(index)};
    }

private:
    static std::array<Body, 4>& bodies() {
        static std::array<Body, 4> all;
        return all;
    }
    template <std::size_t I>
    static results::Outcome run(experiments::Context& context) {
        return bodies()[I](context);
    }
};

/// After `lost` is set it refuses every allocation, as a CUDA context does after an illegal address.
class LosableDevice : public measure::testing::ScriptedDevice {
public:
    bool lost = false;
    device::Address allocate(Bytes size) override {
        if (lost) throw DeviceError("cuMemAlloc: CUDA_ERROR_ILLEGAL_ADDRESS");
        return ScriptedDevice::allocate(size);
    }
};

}  // namespace gputomo::scan::testing
