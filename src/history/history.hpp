// Scans kept in an SQLite file: a GPU beside itself last month, and beside others of its kind.
#pragma once

#include "machine/diff.hpp"
#include "machine/machine.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;

namespace gputomo::history {

/// When and of which specimen a description was taken.
struct Taking {
    std::string specimen;  ///< what tells this GPU from others of its kind: its UUID, or a name that the user gives
    std::string time;      ///< UTC, "2026-11-21T10:44:49Z"; empty for now
};

struct Entry {
    std::int64_t id = 0;
    std::string time;
    std::string kind;  ///< identity.name
    std::string specimen;
};

/// A leaf of one scan.
struct Point {
    Entry entry;
    machine::Leaf leaf;
};

/// What changed between the two last scans of one specimen.
struct Change {
    Entry before;
    Entry after;
    machine::DiffResult diff;
};

/// A leaf by which a specimen differs from the others of its kind.
struct Outlier {
    Entry entry;
    std::string path;
    machine::Leaf leaf;
    std::string
        fleet;  ///< what the others have: their median and how far they spread, or the value that most of them share
    std::size_t specimens = 0;  ///< of this kind, this one included
};

/// A history file. Every member throws InputError (file, what is wrong, what was expected) where the file is not one.
class History {
public:
    /// Creates the file where it doesn't exist, unless `must_exist`.
    explicit History(const std::filesystem::path& file, bool must_exist = false);

    /// Keeps a description; the same specimen at the same time is refused.
    Entry add(const machine::Machine& machine, const Taking& taking);
    /// All scans, oldest first.
    [[nodiscard]] std::vector<Entry> entries() const;
    [[nodiscard]] machine::Machine machine(std::int64_t id) const;
    /// The leaf at `path` in every scan that has it, by kind and specimen, oldest first.
    [[nodiscard]] std::vector<Point> series(std::string_view path) const;
    /// Of every specimen that was scanned more than once.
    [[nodiscard]] std::vector<Change> changes() const;
    /// Of the last scans of each kind with three specimens or more: numbers whose interval holds neither the median of
    /// the other specimens nor overlaps theirs, other values that a majority of the others agrees on and this one
    /// doesn't have.
    [[nodiscard]] std::vector<Outlier> outliers() const;

private:
    struct Close {
        void operator()(sqlite3* db) const noexcept;
    };
    [[nodiscard]] std::vector<Entry> last_of_each_specimen() const;

    std::string name_;
    std::unique_ptr<sqlite3, Close> db_;
};

}  // namespace gputomo::history
