#include "cli/inputs/devices.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/options.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "cli/terminal/progress.hpp"
#include "files/output_file.hpp"
#include "machine/json.hpp"
#include "units/error.hpp"
#include "validate/cache_campaign.hpp"
#include "validate/campaign.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

namespace gputomo::cli {
namespace {

struct ValidateOptions {
    int machines = 20;
    int caches = 0;
    std::uint64_t seed = 1;
    int noise = 0;
    bool json = false;
    bool outstanding = false;
    std::filesystem::path keep;
    Ways usage{{"random GPUs (without --caches)", "--caches"}};
};

/// Bits of ValidateOptions::usage.
constexpr unsigned kOfGpus = 1, kOfCaches = 2;

/// The largest share of wrong values among the decided ones with which validation passes. Campaigns of 20 machines had
/// 0.3% to 0.9% (docs/notes/2026-11-23-random-machines.md), so that with a smaller limit the seed would decide. A leaf
/// that deduction gets wrong on every machine adds 0.7%, because about 150 values of a machine are decided; a larger
/// limit would let it pass.
constexpr double kWrongAllowed = 0.01;

validate::Subject subject_of(const ValidateOptions& options) {
    return options.outstanding ? validate::Subject::outstanding : validate::Subject::everything;
}

/// Writes the descriptions of machines with a wrong value or a failure, so that they can be scanned again as
/// sim:FILE.json.
void keep_machines(const validate::Result& result, validate::Subject subject, const std::filesystem::path& folder) {
    for (const auto& one : result.cases) {
        if (one.wrong.empty() && one.failures.empty()) continue;
        auto machine = validate::machine_of(subject, one.seed);
        machine.origin = origin_of_command();
        files::write_whole(folder / fmt::format("{}.json", one.seed), machine::to_json(machine));
    }
}

int validate_deduction(const ValidateOptions& options) {
    const InterruptGuard guard;
    if (!options.keep.empty()) files::check_writable_folder(options.keep);
    validate::Result result;
    {
        Progress progress(false);
        validate::Campaign campaign{options.machines,           options.seed,
                                    noise_level(options.noise), std::max(1U, std::thread::hardware_concurrency()),
                                    subject_of(options),        nullptr,
                                    InterruptGuard::interrupted};
        campaign.progress = [&](int done) {
            if (!InterruptGuard::interrupted())
                progress.show(static_cast<double>(done) / options.machines, -1,
                              fmt::format("{} of {} machines scanned", done, options.machines));
        };
        result = validate::run(campaign);
    }
    const auto covered = validate::covered(result.tallies);
    const auto all = validate::sum(covered);
    if (options.json) {
        nlohmann::ordered_json json = {{"schema", "gputomo-validate-1"},
                                       {"machines", result.cases.size()},
                                       {"seed", options.seed},
                                       {"parameters", nlohmann::ordered_json::object()}};
        for (const auto& [parameter, tally] : covered)
            json["parameters"][parameter] = {{"exact", tally.exact},
                                             {"total", tally.total()},
                                             {"undecided", tally.undecided},
                                             {"wrong", tally.wrong},
                                             {"missing", tally.missing}};
        print_json(std::move(json), origin_of_command());
    } else {
        for (const auto& [parameter, tally] : covered)
            out::print("{:<44} {:>4} exact of {:>4}, {} undecided, {} wrong, {} missing\n", parameter, tally.exact,
                       tally.total(), tally.undecided, tally.wrong, tally.missing);
        out::print("{} of {} exact; {} of {} decided values wrong\n", all.exact, all.total(), all.wrong, all.decided());
    }
    if (!options.keep.empty()) keep_machines(result, subject_of(options), options.keep);
    for (const auto& one : result.cases) {
        for (const auto& wrong : one.wrong)
            out::say("machine {}: {}: {} instead of {}", one.seed, wrong.path, wrong.scanned, wrong.truth);
        for (const auto& failure : one.failures) out::say("machine {}: {}", one.seed, failure);
    }
    if (result.cases.size() < static_cast<std::size_t>(options.machines))
        throw Interrupted(
            fmt::format("interrupted; the counts are of the {} machines that were scanned", result.cases.size()));
    const bool complete =
        std::all_of(result.cases.begin(), result.cases.end(), [](const auto& one) { return one.failures.empty(); });
    return complete && static_cast<double>(all.wrong) <= kWrongAllowed * static_cast<double>(all.decided()) ? 0 : 1;
}

void print_cases(const ValidateOptions& options, const std::vector<validate::CacheCase>& cases,
                 const validate::CacheTally& all) {
    nlohmann::ordered_json json = {{"schema", "gputomo-validate-caches-1"},
                                   {"caches", cases.size()},
                                   {"seed", options.seed},
                                   {"noise", options.noise},
                                   {"geometry", all.geometry},
                                   {"index", all.index},
                                   {"policy", all.policy},
                                   {"odds_wrong", all.odds_wrong},
                                   {"surely_wrong", all.surely_wrong},
                                   {"loads", all.loads},
                                   {"cases", nlohmann::ordered_json::array()}};
    for (const auto& one : cases)
        json["cases"].push_back({{"seed", one.seed},
                                 {"truth", one.truth},
                                 {"found", one.found},
                                 {"geometry", one.geometry},
                                 {"index", one.index},
                                 {"policy", one.policy},
                                 {"odds", one.odds},
                                 {"surely_wrong", one.surely_wrong},
                                 {"loads", one.loads}});
    print_json(std::move(json), origin_of_command());
}

int validate_caches(const ValidateOptions& options) {
    const InterruptGuard guard;
    std::vector<validate::CacheCase> cases;
    {
        Progress progress(false);
        const auto noise = noise_level(options.noise);
        validate::CacheCampaign campaign{options.caches,
                                         options.seed,
                                         {noise.jitter_cycles, noise.outlier_fraction},
                                         std::max(1U, std::thread::hardware_concurrency()),
                                         nullptr};
        campaign.progress = [&](int done) {
            progress.show(static_cast<double>(done) / options.caches, -1,
                          fmt::format("{} of {} caches deduced", done, options.caches));
        };
        cases = validate::run(campaign);
    }
    for (const auto& one : cases)
        if (!validate::is_recovered(one)) out::say("cache {}: {}\n  found {}", one.seed, one.truth, one.found);
    const auto all = validate::tally_of(cases);
    if (options.json)
        print_cases(options, cases, all);
    else
        out::print(
            "of {} caches, found: geometry {}, index {}, policy {}; wrong: odds of single ways {}, values with a "
            "confidence above 0.95 {}; {:.1f} million loads per cache\n",
            cases.size(), all.geometry, all.index, all.policy, all.odds_wrong, all.surely_wrong,
            static_cast<double>(all.loads) / 1e6 / static_cast<double>(cases.size()));
    return validate::passes(all) ? 0 : 1;
}

}  // namespace

void add_validate(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<ValidateOptions>();
    Command command(parent, "validate",
                    "Scan random simulated GPUs, compare with their descriptions and count what is recovered");
    command.add_option("--machines", options->machines, "number of simulated GPUs")
        .capture_default_str()
        .range(1, 100000)
        .only_for(options->usage, kOfGpus);
    command.add_option("--caches", options->caches, "deduce this number of random caches instead of scanning GPUs")
        .range(1, 100000);
    command.add_option("--seed", options->seed, kSeedHelp).capture_default_str();
    command.add_option("--noise", options->noise, kNoiseHelp).capture_default_str();
    command
        .add_flag("--outstanding", options->outstanding,
                  "test only the tables of outstanding loads, on GPUs that differ in them")
        .only_for(options->usage, kOfGpus);
    command.add_flag("--json", options->json, "print JSON instead of text");
    command
        .add_option("--keep", options->keep,
                    "folder to write the descriptions of GPUs to that were not fully recovered")
        .only_for(options->usage, kOfGpus);
    command.add_verbosity();
    command.runs(action, [options] {
        const bool is_caches = options->caches > 0;
        options->usage.check(is_caches ? kOfCaches : kOfGpus);
        return is_caches ? validate_caches(*options) : validate_deduction(*options);
    });
}

}  // namespace gputomo::cli
