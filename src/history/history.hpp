// Keeps scans in an SQLite file, and compares a GPU with its earlier scans and with other GPUs of its kind.
#pragma once

#include "machine/diff.hpp"
#include "machine/machine.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;

namespace gputomo::history {

/// When a description was measured, and on which specimen of a kind of GPU.
struct ScanLabel {
    std::string specimen;  ///< name of this GPU among others of its kind: its UUID, or one that the user gives
    std::string time;      ///< UTC, "2026-11-21T10:44:49Z"; empty for now
};

/// One scan of the history.
struct Entry {
    std::int64_t id = 0;
    std::string time;
    std::string kind;  ///< the kind of GPU: identity.name of the description
    std::string specimen;
};

/// The value of a leaf in one scan.
struct Point {
    Entry entry;
    machine::Leaf leaf;
};

/// What changed between the two last scans of one specimen.
struct Change {
    Entry before;
    Entry after;
    machine::DiffResult diff;                     ///< `differing` has what changed by more than between healthy scans
    std::vector<machine::Difference> repeatable;  ///< what differs no more than between earlier scans
};

/// A leaf in which a specimen differs from the others of its kind.
struct Outlier {
    Entry entry;
    std::string path;
    machine::Leaf leaf;
    std::string
        fleet;  ///< what the others have, in words: their median and spread, or the value that most of them share
    std::size_t specimens = 0;  ///< number of specimens of this kind, this one included
};

/// An open history file. Every member throws InputError with the file, the fault and what was expected where the file
/// is not a history.
class History {
public:
    /// Creates the file where it does not exist; with `must_exist`, throws InputError instead.
    explicit History(const std::filesystem::path& file, bool must_exist = false);

    /// Adds a description. Throws InputError for a second one of the same specimen at the same time.
    Entry add(const machine::Machine& machine, const ScanLabel& label);
    /// All scans, the oldest first.
    [[nodiscard]] std::vector<Entry> entries() const;
    [[nodiscard]] machine::Machine machine(std::int64_t id) const;
    /// The leaf at `path` in every scan that has it, sorted by kind and specimen, the oldest first.
    [[nodiscard]] std::vector<Point> series(std::string_view path) const;
    /// What changed between the last two scans of each specimen that was scanned more than once, by more than healthy
    /// scans differ (history/repeatability.hpp).
    [[nodiscard]] std::vector<Change> changes() const;
    /// The outliers among the last scans of each kind that has at least three specimens. A number is one if its
    /// interval misses the other specimens' median by more than their spread. Another value is one if most of the
    /// others agree on a different value.
    [[nodiscard]] std::vector<Outlier> outliers() const;

private:
    struct Close {
        void operator()(sqlite3* db) const noexcept;
    };
    /// The latest scans of each specimen of each kind, by the names of the kind and the specimen.
    using Specimens = std::map<std::string, std::map<std::string, std::vector<Entry>>>;
    [[nodiscard]] Specimens by_kind() const;
    [[nodiscard]] std::vector<Entry> last_of_each_specimen() const;

    std::string name_;
    std::unique_ptr<sqlite3, Close> db_;
};

}  // namespace gputomo::history
