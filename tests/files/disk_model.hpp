// A disk that can be cut off at any operation, and what may be left on it then.
#pragma once

#include "files/file_system.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gputomo::files::testing {

/// The process or the power ended here. It is no Error, so that nothing cleans up after it.
struct CutOff : std::exception {};

/// Files in memory. Content reaches the disk with sync(), and names with sync_folder(); what a power failure leaves of
/// the rest is open. All files lie in one folder.
class DiskModel final : public FileSystem {
public:
    using Path = std::filesystem::path;

    /// Throws CutOff instead of operation `n`, counted from 0; a write stores half of its content before.
    void cut_at(std::size_t n) { cut_ = n, done_ = 0; }
    /// Throws `error` instead of operation `n`.
    void fail_at(std::size_t n, std::exception_ptr error) { cut_at(n), error_ = std::move(error); }
    void never_cut() { cut_ = std::numeric_limits<std::size_t>::max(), error_ = nullptr; }
    [[nodiscard]] std::size_t operations() const { return done_; }

    OpenFile create(const Path& file) override {
        step();
        auto& inode = names_[file];
        if (!inode) {
            inode = std::make_shared<Inode>();
            pending_.push_back([file, inode](Names& names) { names[file] = inode; });
        }
        inode->content.clear();
        open_.push_back(inode);
        return {file, static_cast<int>(open_.size()) - 1};
    }
    std::size_t write(const OpenFile& file, std::string_view content) override {
        auto& inode = *open_.at(static_cast<std::size_t>(file.handle));
        const bool last = done_ == cut_;
        const auto half = (content.size() + 1) / 2;  // so that a write may take less than it was given, as on Linux
        inode.content += content.substr(0, half);
        if (last) step();
        ++done_;
        return half;
    }
    void sync(const OpenFile& file) override {
        step();
        auto& inode = *open_.at(static_cast<std::size_t>(file.handle));
        inode.durable = inode.content;
    }
    void close(const OpenFile&) override { step(); }
    void rename(const Path& from, const Path& to) override {
        step();
        const Change change = [from, to](Names& names) {
            if (const auto found = names.extract(from)) names[to] = found.mapped();
        };
        change(names_);
        pending_.push_back(change);
    }
    void remove(const Path& file) override {
        step();
        const Change change = [file](Names& names) { names.erase(file); };
        change(names_);
        pending_.push_back(change);
    }
    void sync_folder(const Path&) override {
        step();
        durable_ = names_;
        pending_.clear();
    }
    [[nodiscard]] std::optional<std::string> read(const Path& file) const override {
        const auto found = names_.find(file);
        return found == names_.end() ? std::nullopt : std::optional(found->second->content);
    }
    [[nodiscard]] std::size_t count() const { return names_.size(); }

    /// The disks that may be found after the cut. The end of the process loses nothing. A power failure may lose any of
    /// the names and contents that were not synchronised.
    [[nodiscard]] std::vector<std::shared_ptr<DiskModel>> left() const {
        std::vector<std::shared_ptr<DiskModel>> disks{disk_of(names_, true)};
        for (std::size_t kept = 0; kept < std::size_t{1} << pending_.size(); ++kept) {
            Names names = durable_;
            for (std::size_t i = 0; i < pending_.size(); ++i)
                if ((kept >> i & 1) != 0) pending_[i](names);
            for (const bool contents : {false, true}) disks.push_back(disk_of(names, contents));
        }
        return disks;
    }

private:
    struct Inode {
        std::string content, durable;
    };
    using Names = std::map<Path, std::shared_ptr<Inode>>;
    using Change = std::function<void(Names&)>;

    static std::shared_ptr<DiskModel> disk_of(const Names& names, bool contents) {
        auto disk = std::make_shared<DiskModel>();
        for (const auto& [name, inode] : names) {
            const auto& kept = contents ? inode->content : inode->durable;
            disk->names_[name] = std::make_shared<Inode>(Inode{kept, kept});
        }
        disk->durable_ = disk->names_;
        return disk;
    }
    void step() {
        if (done_++ != cut_) return;
        if (error_) std::rethrow_exception(error_);
        throw CutOff();
    }

    Names names_, durable_;
    std::vector<Change> pending_;
    std::vector<std::shared_ptr<Inode>> open_;
    std::size_t cut_ = std::numeric_limits<std::size_t>::max(), done_ = 0;
    std::exception_ptr error_;
};

}  // namespace gputomo::files::testing
