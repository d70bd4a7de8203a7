#include "cli/inputs/origin.hpp"
#include "cli/inputs/papers.hpp"
#include "cli/options.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "cli/terminal/progress.hpp"
#include "files/folder_lock.hpp"
#include "files/output_file.hpp"
#include "files/output_folder.hpp"
#include "reproduce/papers/index.hpp"
#include "reproduce/papers/reproduce.hpp"
#include "units/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

namespace gputomo::cli {
namespace {

struct ReproduceOptions {
    std::string paper;
    std::vector<std::string> only;
    std::string out;
    std::uint64_t seed = 1;
    bool json = false;
};

/// The results of a paper in the folder; nothing where it has none, or a file of that name from another program.
std::optional<reproduce::Json> results_in(const std::filesystem::path& folder, const std::string& paper) {
    const auto file = folder / (paper + ".json");
    if (!std::filesystem::exists(file)) return std::nullopt;
    auto json = reproduce::Json::parse(read_file(file, "a reproduction"), nullptr, false);
    const bool ours = json.is_object() && json.contains("schema") && json["schema"] == reproduce::kReproductionSchema &&
                      json.contains("paper") && json["paper"] == paper;
    return ours ? std::optional(std::move(json)) : std::nullopt;
}

/// The page of all papers in the folder, of which one has these results now.
std::string index_of(const std::filesystem::path& folder, const std::string& latest, const std::string& json) {
    const auto papers = shipped_papers();
    std::vector<reproduce::PaperResults> results;
    for (const auto& paper : papers)
        results.push_back({&paper, paper.id == latest ? reproduce::Json::parse(json) : results_in(folder, paper.id)});
    return reproduce::index_page(results);
}

/// Whether the folder has reproduced values of the paper that this run left out (--only).
bool has_values_left_out(const std::filesystem::path& folder, const reproduce::Reproduction& reproduction) {
    const auto earlier = results_in(folder, reproduction.paper->id);
    if (!earlier || !earlier->contains("results")) return false;
    return std::ranges::any_of(earlier->at("results"), [&](const reproduce::Json& value) {
        return value.is_object() && !value.value("reproduced", reproduce::Json()).is_null() &&
               std::ranges::none_of(reproduction.rows, [&](const reproduce::Row& row) {
                   return value.value("id", reproduce::Json()) == row.entry->id &&
                          value.value("gpu", reproduce::Json()) == row.gpu;
               });
    });
}

/// A reproduction that was interrupted, or that has only some values (`some`) of more, leaves earlier results in the
/// folder alone.
void write_pages(const reproduce::Reproduction& reproduction, bool some, std::filesystem::path folder) {
    const auto& paper = reproduction.paper->id;  // in the names, because papers may share a folder
    const bool loses = some && has_values_left_out(folder, reproduction);
    if (loses)
        out::note("{} has values that --only leaves out, and is unchanged", (folder / (paper + ".json")).string());
    if (reproduction.interrupted || loses) {
        folder /= files::kPartialFolder;
        files::check_writable_folder(folder);
    }
    const auto json = reproduce::results_json(reproduction);
    files::OutputFolder(folder).write({{paper + ".json", json},
                                       {paper + ".html", reproduce::results_page(reproduction)},
                                       {"index.html", index_of(folder, paper, json)}});
    out::say("written: {0}/{1}.json {0}/{1}.html {0}/index.html", folder.string(), paper);
}

int reproduce_paper(const ReproduceOptions& options) {
    const InterruptGuard guard;
    const auto paper = shipped_paper(options.paper);
    std::optional<files::FolderLock> lock;
    if (!options.out.empty()) {
        files::check_writable_folder(options.out);
        lock.emplace(options.out, origin_of_command().command);
    }
    reproduce::Reproduction result;
    {
        Progress progress(false);
        reproduce::Options run{.only = options.only, .seed = options.seed};
        run.open = [&](const std::string& name, const reproduce::PaperGpu& gpu) {
            return open_paper_gpu(name, gpu, options.seed);
        };
        run.progress = [&](double fraction, double left, std::string_view what) {
            progress.show(fraction, left, what);
        };
        result = reproduce::run(paper, run);
        result.origin = origin_of_command();
    }
    if (options.json)
        out::print_json_text(reproduce::results_json(result));
    else
        out::print_text(reproduce::results_table(result));
    for (const auto& warning : result.warnings) out::warn("{}", warning);
    if (!options.out.empty()) write_pages(result, !options.only.empty(), options.out);
    if (result.interrupted) throw Interrupted("interrupted; values that were not measured are shown as missing");
    return result.all_agree() ? 0 : 1;
}

}  // namespace

void add_reproduce(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<ReproduceOptions>();
    Command command(parent, "reproduce",
                    "Measure a paper's GPUs again in simulation and compare with the values that "
                    "it published; exits with 1 where one differs");
    command.add_option("paper", options->paper, "id of the paper, from `gputomo list papers`").required();
    command.add_flag("--json", options->json, "print JSON instead of a table");
    command
        .add_option("--only", options->only,
                    "ids of published values, or the beginning of ids, such as wong2010.table3 (default: all)")
        .delimiter(',');
    command.add_option("--out", options->out,
                       "folder to write PAPER.html, PAPER.json and an index.html of all papers there to");
    command.add_option("--seed", options->seed, kSeedHelp).capture_default_str();
    command.add_verbosity();
    command.runs(action, [options] { return reproduce_paper(*options); });
}

}  // namespace gputomo::cli
