#include "files/output_folder.hpp"

#include "units/error.hpp"

#include <utility>

namespace gputomo::files {

namespace fs = std::filesystem;

OutputFolder::OutputFolder(fs::path folder, FileSystem& system) : folder_(std::move(folder)), system_(system) {}

fs::path OutputFolder::part_of(std::string_view name) const { return at(std::string(name) + std::string(kPartSuffix)); }

/// Brings an earlier write that was cut off to an end. Where a new manifest is complete and the old one no longer fits,
/// renaming had begun, and the rest is renamed. Otherwise the old set is whole, and the new manifest is removed before
/// the files that it lists are overwritten.
void OutputFolder::settle() {
    const auto text = system_.read(part_of(kManifestName));
    if (!text) return;
    const auto unfinished = manifest_from_json(*text);
    const auto set = read_set(folder_, system_);
    if (unfinished && set.problems.empty() && set.manifest == *unfinished) {
        finish(*unfinished);
    } else {
        system_.remove(part_of(kManifestName));
        system_.sync_folder(folder_);
    }
}

/// Renames what has not been renamed, the manifest last. The folder is synchronised before, so that no disk keeps the
/// renaming of the manifest and loses that of a file.
void OutputFolder::finish(const Manifest& manifest) {
    for (const auto& [name, listed] : manifest) {
        const auto part = system_.read(part_of(name));
        if (part && listing_of(*part) == listed) system_.rename(part_of(name), at(name));
    }
    system_.sync_folder(folder_);
    system_.rename(part_of(kManifestName), at(kManifestName));
    system_.sync_folder(folder_);
}

/// Writes everything beside the old files. A failure removes what it wrote, since a full disk is what fails most.
void OutputFolder::prepare(const std::vector<NamedContent>& files, const Manifest& manifest) {
    try {
        for (const auto& [name, content] : files) write_and_sync(system_, part_of(name), content);
        system_.sync_folder(folder_);
        write_and_sync(system_, part_of(kManifestName), to_json(manifest));
        system_.sync_folder(folder_);
    } catch (const Error&) {
        system_.remove(part_of(kManifestName));
        for (const auto& file : files) system_.remove(part_of(file.name));
        throw;
    }
}

void OutputFolder::write(const std::vector<NamedContent>& files) {
    settle();
    Manifest manifest = read_set(folder_, system_).manifest;
    // With a file that someone deleted, no set would be whole, and a write that was cut off could not be finished.
    std::erase_if(manifest, [&](const auto& entry) { return !system_.read(at(entry.first)); });
    for (const auto& [name, content] : files) manifest[name] = listing_of(content);
    prepare(files, manifest);
    finish(manifest);
}

}  // namespace gputomo::files
