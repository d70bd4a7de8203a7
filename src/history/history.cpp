#include "history/history.hpp"

#include "history/fleet.hpp"
#include "history/repeatability.hpp"
#include "machine/json.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace gputomo::history {
namespace {

/// The SQLite application id that marks a history of gputomo ("gpuT" as a 32-bit number), and the version of its
/// tables.
constexpr int kApplication = 0x67707554;
constexpr int kVersion = 1;
constexpr const char* kLayout =
    "CREATE TABLE scans (id INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, specimen TEXT NOT NULL,"
    " machine TEXT NOT NULL, UNIQUE (specimen, kind, time))";

/// What went wrong by SQLite's primary result code, and what the user can do.
struct Reason {
    int code;
    std::string_view text;
};
constexpr Reason kReasons[] = {
    {SQLITE_NOTADB, "is no history; expected a history file of gputomo, or a file that can be created"},
    {SQLITE_CORRUPT, "is damaged; expected a history file of gputomo: go back to a copy, or name another file"},
    {SQLITE_ERROR, "has not the table of a history; expected a history file of gputomo"},
    {SQLITE_CANTOPEN, "cannot be opened; expected a history file of gputomo, or a file that can be created"},
    {SQLITE_PERM, "cannot be opened; expected a file that you may read and write"},
    {SQLITE_READONLY, "cannot be written; expected a file and a folder that you may write"},
    {SQLITE_BUSY, "is being written by another program; try again when that has ended"},
    {SQLITE_LOCKED, "is being written by another program; try again when that has ended"},
    {SQLITE_FULL, "cannot be written: the disk is full; make space there, or name a file on another disk"},
    {SQLITE_IOERR, "cannot be read or written; expected a regular file, on a disk that works"},
    {SQLITE_TOOBIG, "cannot take a description of this size; expected a machine description"},
};

[[noreturn]] void fail(const std::string& file, sqlite3* db) {
    const int code = sqlite3_errcode(db) & 0xFF;  // the rest says more than users need
    const auto known = std::ranges::find(kReasons, code, &Reason::code);
    throw InputError(fmt::format("{}: {}", file,
                                 known != std::end(kReasons)
                                     ? std::string(known->text)
                                     : fmt::format("cannot be used as a history: {}; expected a history file of "
                                                   "gputomo",
                                                   sqlite3_errstr(code))));
}

bool has_control_characters(const std::string& text) {
    return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

/// A prepared statement.
class Statement {
public:
    Statement(const std::string& file, sqlite3* db, const char* sql) : file_(file), db_(db) {
        if (sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr) != SQLITE_OK) fail(file_, db_);
    }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    ~Statement() { sqlite3_finalize(statement_); }

    Statement& bind(int index, std::string_view text) {
        if (sqlite3_bind_text(statement_, index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT) !=
            SQLITE_OK)
            fail(file_, db_);
        return *this;
    }
    Statement& bind(int index, std::int64_t number) {
        if (sqlite3_bind_int64(statement_, index, number) != SQLITE_OK) fail(file_, db_);
        return *this;
    }
    /// Steps to the next row. False at the end.
    bool next() {
        const int code = sqlite3_step(statement_);
        if (code != SQLITE_ROW && code != SQLITE_DONE) fail(file_, db_);
        return code == SQLITE_ROW;
    }
    [[nodiscard]] std::int64_t integer(int column) { return sqlite3_column_int64(statement_, column); }
    [[nodiscard]] std::string text(int column) {
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
        return bytes == nullptr
                   ? std::string()
                   : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
    }

private:
    const std::string& file_;
    sqlite3* db_;
    sqlite3_stmt* statement_ = nullptr;
};

std::int64_t pragma(const std::string& file, sqlite3* db, const char* name) {
    Statement query(file, db, fmt::format("PRAGMA {}", name).c_str());
    return query.next() ? query.integer(0) : 0;
}

void execute(const std::string& file, sqlite3* db, const std::string& sql) {
    if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(file, db);
}

/// Makes the tables in an empty file, and refuses a file of another program or version.
void prepare(const std::string& file, sqlite3* db) {
    if (pragma(file, db, "schema_version") == 0) {
        execute(file, db,
                fmt::format("BEGIN; PRAGMA application_id = {}; PRAGMA user_version = {}; {}; COMMIT", kApplication,
                            kVersion, kLayout));
        return;
    }
    if (pragma(file, db, "application_id") != kApplication)
        throw InputError(
            fmt::format("{}: an SQLite file of another program; expected a history file of gputomo", file));
    const auto version = pragma(file, db, "user_version");
    if (version != kVersion)
        throw InputError(fmt::format("{}: a history of version {}; expected version {}, which this gputomo reads", file,
                                     version, kVersion));
}

std::string now(const std::string& file, sqlite3* db) {
    Statement clock(file, db, "SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')");
    clock.next();
    return clock.text(0);
}

/// Whether the text is UTF-8, as JSON needs.
bool is_utf8(const std::string& text) {
    try {
        return !nlohmann::json(text).dump().empty();
    } catch (const nlohmann::json::type_error&) {
        return false;
    }
}

bool is_time(const std::string& text) {
    std::tm tm{};
    const char* const end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &tm);
    return end != nullptr && *end == '\0';
}

/// The kind of GPU: its name in the description, or as the device reported it where that leaf was not measured.
std::string kind_of(const machine::Machine& machine) {
    const bool reported = machine.origin && machine.origin->gpu && !machine.origin->gpu->name.empty();
    return machine.identity.name.value_or(reported ? machine.origin->gpu->name : "unknown");
}

Entry entry_of(Statement& row) { return {row.integer(0), row.text(1), row.text(2), row.text(3)}; }

/// The leaf in each of the machines that has it.
Run run_of(const std::string& path, std::span<const machine::Machine> machines) {
    Run run;
    for (const auto& machine : machines)
        if (auto leaf = machine::get_leaf(machine, path); leaf && leaf->knowledge != machine::Knowledge::unknown)
            run.push_back(*std::move(leaf));
    return run;
}

/// Moves differences that are as small as those between earlier scans from `diff.differing` to `repeatable`.
void sort_out_repeatable(Change& change, const std::string& specimen,
                         const std::map<std::string, std::vector<machine::Machine>>& machines) {
    const std::span<const machine::Machine> own = machines.at(specimen);
    const auto repeats = [&](const machine::Difference& row) {
        std::vector<Run> others;
        for (const auto& [name, scans] : machines)
            if (name != specimen) others.push_back(run_of(row.path, scans));
        return is_repeatable(row, run_of(row.path, own.first(own.size() - 1)), others);
    };
    auto& rows = change.diff.differing;
    const auto first = std::stable_partition(rows.begin(), rows.end(), [&](const auto& row) { return !repeats(row); });
    change.repeatable.assign(std::make_move_iterator(first), std::make_move_iterator(rows.end()));
    rows.erase(first, rows.end());
}

bool comparable(const machine::NamedLeaf& named) {
    return named.info.internal.empty() &&
           (named.leaf.knowledge == machine::Knowledge::known || named.leaf.knowledge == machine::Knowledge::absent);
}

}  // namespace

void History::Close::operator()(sqlite3* db) const noexcept { sqlite3_close(db); }

History::History(const std::filesystem::path& file, bool must_exist) : name_(file.string()) {
    if (must_exist && !std::filesystem::exists(file))
        throw InputError(fmt::format(
            "{}: no such file; expected a history that `gputomo scan --history` or `gputomo history --add` wrote",
            name_));
    sqlite3* db = nullptr;
    // SQLite keeps nothing of a file without a name or with the name ":memory:", and reads "file:..." as a URI.
    if (file.empty()) throw InputError("a history without a name; expected the name of a file");
    const int code = sqlite3_open((file.is_absolute() ? file : "." / file).c_str(), &db);
    db_.reset(db);
    if (code != SQLITE_OK) fail(name_, db);
    sqlite3_busy_timeout(db, 5000);  // milliseconds; scans of several GPUs may end at the same time
    prepare(name_, db);
}

Entry History::add(const machine::Machine& machine, const ScanLabel& label) {
    Entry entry{0, label.time.empty() ? now(name_, db_.get()) : label.time, kind_of(machine), label.specimen};
    if (!is_time(entry.time))
        throw InputError(fmt::format("{}: time {}: expected UTC as 2026-11-21T10:44:49Z", name_, entry.time));
    if (!is_utf8(entry.specimen))
        throw InputError(
            fmt::format("{}: a specimen whose name is not UTF-8; expected a name in UTF-8, such as the "
                        "GPU's UUID",
                        name_));
    if (has_control_characters(entry.specimen))
        throw InputError(
            fmt::format("{}: a specimen whose name has control characters; expected a name in one line, "
                        "such as the GPU's UUID",
                        name_));
    if (entry.specimen.empty())
        throw InputError(
            fmt::format("{}: a scan without a specimen; expected a name for this GPU, such as its UUID", name_));
    {
        Statement twice(name_, db_.get(), "SELECT id FROM scans WHERE time = ?1 AND kind = ?2 AND specimen = ?3");
        if (twice.bind(1, entry.time).bind(2, entry.kind).bind(3, entry.specimen).next())
            throw InputError(fmt::format("{}: already has a scan of {} at {}; expected another time", name_,
                                         entry.specimen, entry.time));
    }
    Statement insert(name_, db_.get(), "INSERT INTO scans (time, kind, specimen, machine) VALUES (?1, ?2, ?3, ?4)");
    insert.bind(1, entry.time).bind(2, entry.kind).bind(3, entry.specimen).bind(4, machine::to_json(machine)).next();
    entry.id = sqlite3_last_insert_rowid(db_.get());
    return entry;
}

std::vector<Entry> History::entries() const {
    std::vector<Entry> found;
    Statement query(name_, db_.get(), "SELECT id, time, kind, specimen FROM scans ORDER BY time, id");
    while (query.next()) found.push_back(entry_of(query));
    return found;
}

machine::Machine History::machine(std::int64_t id) const {
    Statement query(name_, db_.get(), "SELECT machine FROM scans WHERE id = ?1");
    if (!query.bind(1, id).next()) throw InputError(fmt::format("{}: has no scan {}", name_, id));
    return machine::from_json(query.text(0), fmt::format("{}: scan {}", name_, id));
}

std::vector<Point> History::series(std::string_view path) const {
    std::vector<Point> points;
    for (const auto& entry : entries())
        if (auto leaf = machine::get_leaf(machine(entry.id), path);
            leaf && leaf->knowledge != machine::Knowledge::unknown)
            points.push_back({entry, std::move(*leaf)});
    std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
        return std::tie(a.entry.kind, a.entry.specimen) < std::tie(b.entry.kind, b.entry.specimen);
    });
    return points;
}

History::Specimens History::by_kind() const {
    // More scans change the repeatability little, and reading them takes long.
    constexpr std::size_t kMostScans = 20;
    Specimens kinds;
    for (const auto& entry : entries()) kinds[entry.kind][entry.specimen].push_back(entry);
    for (auto& [kind, specimens] : kinds)
        for (auto& [specimen, scans] : specimens)
            if (scans.size() > kMostScans) scans.erase(scans.begin(), scans.end() - kMostScans);
    return kinds;
}

std::vector<Change> History::changes() const {
    std::vector<Change> found;
    for (const auto& [kind, specimens] : by_kind()) {
        std::map<std::string, std::vector<machine::Machine>> machines;
        for (const auto& [specimen, scans] : specimens)
            for (const auto& scan : scans) machines[specimen].push_back(machine(scan.id));
        for (const auto& [specimen, scans] : specimens) {
            if (scans.size() < 2) continue;
            const auto& own = machines[specimen];
            Change change{scans[scans.size() - 2], scans.back(), machine::diff(own[own.size() - 2], own.back()), {}};
            sort_out_repeatable(change, specimen, machines);
            found.push_back(std::move(change));
        }
    }
    return found;
}

std::vector<Entry> History::last_of_each_specimen() const {
    std::map<std::pair<std::string, std::string>, Entry> last;
    for (const auto& entry : entries()) last[{entry.kind, entry.specimen}] = entry;
    std::vector<Entry> found;
    for (auto& [specimen, entry] : last) found.push_back(std::move(entry));
    return found;
}

std::vector<Outlier> History::outliers() const {
    struct Specimen {
        Entry entry;
        std::map<std::string, machine::Leaf> leaves;
    };
    std::map<std::string, std::vector<Specimen>> fleets;
    for (auto& entry : last_of_each_specimen()) {
        Specimen specimen{entry, {}};
        for (auto& named : machine::all_leaves(machine(entry.id)))
            if (comparable(named)) specimen.leaves.emplace(named.path, std::move(named.leaf));
        fleets[entry.kind].push_back(std::move(specimen));
    }
    std::vector<Outlier> found;
    for (const auto& [kind, fleet] : fleets) {
        if (fleet.size() < 3) continue;  // of two specimens that differ, neither is the outlier
        for (const auto& specimen : fleet)
            for (const auto& [path, leaf] : specimen.leaves) {
                std::vector<machine::Leaf> others;
                for (const auto& other : fleet)
                    if (const auto at = other.leaves.find(path); &other != &specimen && at != other.leaves.end())
                        others.push_back(at->second);
                if (auto fleet_has = unlike_others(leaf, others))
                    found.push_back({specimen.entry, path, leaf, std::move(*fleet_has), fleet.size()});
            }
    }
    return found;
}

}  // namespace gputomo::history
