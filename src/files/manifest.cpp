#include "files/manifest.hpp"

#include "units/sha256.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

namespace gputomo::files {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kHashDigits = 64;

/// Whether a name stays in its folder: a damaged manifest must not make anyone read or rename elsewhere.
bool is_plain_name(const std::string& name) { return !name.empty() && fs::path(name).filename() == name; }

std::optional<Listed> listed_from(const Json& json) {
    if (!json.is_object() || !json.contains("bytes") || !json.contains("sha256")) return std::nullopt;
    const auto &bytes = json["bytes"], &hash = json["sha256"];
    if (!bytes.is_number_unsigned() || !hash.is_string()) return std::nullopt;
    Listed listed{bytes.get<std::uint64_t>(), hash.get<std::string>()};
    return listed.sha256.size() == kHashDigits ? std::optional(std::move(listed)) : std::nullopt;
}

/// What is wrong with a file that does not fit; `found` is nullopt where it is missing.
std::string problem(const fs::path& file, const Listed& expected, const std::optional<std::string>& found) {
    const auto manifest = (folder_of(file) / kManifestName).string();
    if (!found) return fmt::format("{}: is missing or cannot be read; {} lists it", file.string(), manifest);
    return fmt::format(
        "{}: does not fit {}: found {} bytes with SHA-256 {:.12}..., expected {} bytes with {:.12}...; it was changed "
        "after it was written",
        file.string(), manifest, found->size(), sha256(*found), expected.bytes, expected.sha256);
}

FileSet compared(Manifest manifest, const fs::path& folder, const FileSystem& system, bool unfinished) {
    FileSet set{.listed = true, .manifest = std::move(manifest)};
    for (const auto& [name, expected] : set.manifest) {
        auto content = system.read(folder / name);
        if (unfinished && (!content || listing_of(*content) != expected))
            content = system.read(folder / (name + std::string(kPartSuffix)));
        if (content && listing_of(*content) == expected)
            set.contents[name] = *std::move(content);
        else
            set.problems.push_back(problem(folder / name, expected, content));
    }
    return set;
}

std::optional<FileSet> set_listed_in(const fs::path& folder, const FileSystem& system, bool unfinished) {
    const auto text =
        system.read(folder / (std::string(kManifestName) + (unfinished ? std::string(kPartSuffix) : std::string())));
    auto manifest = text ? manifest_from_json(*text) : std::nullopt;
    if (!manifest) return std::nullopt;
    return compared(*std::move(manifest), folder, system, unfinished);
}

/// Whether the manifest of this name lists the file. A manifest itself is one of its files.
bool lists(const fs::path& manifest_file, const fs::path& file, const FileSystem& system) {
    const auto text = system.read(manifest_file);
    const auto manifest = text ? manifest_from_json(*text) : std::nullopt;
    return manifest && (manifest->contains(file.filename().string()) || file.filename() == kManifestName);
}

}  // namespace

Listed listing_of(std::string_view content) { return {content.size(), sha256(content)}; }

std::string to_json(const Manifest& manifest) {
    Json files = Json::object();
    for (const auto& [name, listed] : manifest) files[name] = {{"bytes", listed.bytes}, {"sha256", listed.sha256}};
    return Json{{"schema", kManifestSchema}, {"files", files}}.dump(1, ' ', false, Json::error_handler_t::replace) +
           "\n";
}

std::optional<Manifest> manifest_from_json(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("schema") || json["schema"] != kManifestSchema || !json.contains("files") ||
        !json["files"].is_object())
        return std::nullopt;
    Manifest manifest;
    for (const auto& [name, entry] : json["files"].items()) {
        auto listed = listed_from(entry);
        if (!listed || !is_plain_name(name)) return std::nullopt;
        manifest[name] = *std::move(listed);
    }
    return manifest;
}

FileSet read_set(const fs::path& folder, const FileSystem& system) {
    // A writer may replace the set while it is read. It then renames the manifest last.
    constexpr int kTries = 5;
    for (int last = 1;; ++last) {
        auto finished = set_listed_in(folder, system, false);
        if (finished && finished->problems.empty()) return *std::move(finished);
        if (auto unfinished = set_listed_in(folder, system, true); unfinished && unfinished->problems.empty())
            return *std::move(unfinished);
        const auto after = set_listed_in(folder, system, false);
        const bool replaced = after && (!finished || after->manifest != finished->manifest);
        if (!replaced || last == kTries) return finished ? *std::move(finished) : FileSet{};
    }
}

bool holds_capture(const fs::path& folder) {
    std::string head(256, '\0');  // the schema is the first field of an index, which can have gigabytes
    std::ifstream in(folder / kCaptureIndexName, std::ios::binary);
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    return head.find(kCaptureSchema) != std::string::npos;
}

fs::path index_of_set(const fs::path& file, const FileSystem& system) {
    const auto folder = folder_of(file);
    for (const auto& name : {std::string(kManifestName), std::string(kManifestName) + std::string(kPartSuffix)})
        if (lists(folder / name, file, system)) return folder / kManifestName;
    std::error_code error;
    if (!fs::exists(file, error)) return {};
    if (file.filename() == kCaptureIndexName) return holds_capture(folder) ? file : fs::path();
    const auto name = fs::weakly_canonical(folder, error).filename();
    const bool inside = std::ranges::find(kCaptureFolders, name) != std::end(kCaptureFolders);
    return inside && holds_capture(folder / "..") ? (folder / ".." / kCaptureIndexName).lexically_normal() : fs::path();
}

}  // namespace gputomo::files
