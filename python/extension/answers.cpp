#include "answers.hpp"

#include "answer/answer_text.hpp"
#include "answer/described_gpu.hpp"
#include "answer/predict.hpp"
#include "answer/simulate.hpp"
#include "answer_rows.hpp"
#include "interruption.hpp"
#include "launches.hpp"
#include "pages/answer_page.hpp"
#include "rows.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace gputomo::python {
namespace {

namespace nb = nanobind;
using answer::Answer;
using answer::CachesAtStart;
using answer::DescribedGpu;

/// nullopt: cold caches, and the time with warm ones where it differs, as on the command line.
CachesAtStart caches_of(const std::optional<std::string>& word, bool also_warm) {
    CachesAtStart caches{.caches = {}, .earlier = nullptr, .also_warm = also_warm && !word};
    if (!word || *word == "cold") return caches;
    if (*word != "warm" && *word != "dirty")
        throw InputError(fmt::format("caches '{}': expected 'cold', 'dirty' or 'warm'", *word));
    caches.caches.state = *word == "warm" ? answer::Caches::State::warm : answer::Caches::State::dirty;
    return caches;
}

/// The answer, the same as the text and the JSON of the command line, and the compact part of its page.
nb::dict rows_with_texts(const Answer& answer) {
    auto rows = rows_of(answer);
    rows["text"] = object_of(answer::answer_text(answer));
    rows["json"] =
        object_of(answer::answer_json(answer).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    rows["html"] = object_of(pages::compact_html(answer));
    return rows;
}

nb::dict predict(const HeldLaunch& held, const DescribedGpu& gpu, std::uint64_t seed, std::int64_t time_limit_ms,
                 const std::optional<std::string>& caches, bool advise, bool quick, const Stop* stop) {
    const launch::Sampling whole{.seed = seed, .time_limit = std::chrono::milliseconds(time_limit_ms)};
    const launch::Sampling sampling = quick ? whole.quick() : whole;
    const auto at_start = caches_of(caches, true);
    Answer answer;
    without_lock(stop, [&] {
        gpu.check(held.launch, true);
        answer = answer::predict(held.launch, gpu.gpu(), sampling, at_start,
                                 advise ? answer::Advising::tried : answer::Advising::none);
    });
    return rows_with_texts(answer);
}

nb::dict simulate(const HeldLaunch& held, const DescribedGpu& gpu, std::uint64_t seed, std::int64_t time_limit_ms,
                  std::optional<std::uint64_t> sample_above, const std::optional<std::string>& caches, bool compares,
                  bool outputs, const Stop* stop) {
    answer::SimulationRequest request{.seed = seed,
                                      .time_limit = std::chrono::milliseconds(time_limit_ms),
                                      .compares_results = compares,
                                      .caches = caches_of(caches, false)};
    if (sample_above) request.sampling = sim::SamplingPlan{*sample_above};
    std::vector<std::vector<std::byte>> contents;
    if (outputs)
        request.after = [&](const launch::PlacedLaunch& placed) {
            for (std::size_t i = 0; i < held.launch.buffers.size(); ++i) contents.push_back(placed.content(i));
        };
    Answer answer;
    without_lock(stop, [&] {
        gpu.check(held.launch, false);
        answer = answer::simulate(held.launch, gpu.gpu(), request);
    });
    auto rows = rows_with_texts(answer);
    nb::list all;
    for (const auto& content : contents) all.append(nb::bytes(content.data(), content.size()));
    rows["outputs"] = all;
    return rows;
}

}  // namespace

void bind_answers(nb::module_& module) {
    nb::class_<Stop>(module, "Stop").def(nb::init<>()).def("set", &Stop::set);
    module.def("predict", predict, nb::arg("launch"), nb::arg("gpu"), nb::arg("seed"), nb::arg("time_limit_ms"),
               nb::arg("caches").none(), nb::arg("advise"), nb::arg("quick"), nb::arg("stop").none());
    module.def("simulate", simulate, nb::arg("launch"), nb::arg("gpu"), nb::arg("seed"), nb::arg("time_limit_ms"),
               nb::arg("sample_above").none(), nb::arg("caches").none(), nb::arg("compares"), nb::arg("outputs"),
               nb::arg("stop").none());
}

}  // namespace gputomo::python
