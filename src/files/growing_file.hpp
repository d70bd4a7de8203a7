// Writes a file that is too large for memory, and removes it again where it does not become whole.
#pragma once

#include <filesystem>
#include <fstream>
#include <ostream>

namespace gputomo::files {

/// Begins a new file, and replaces one of that name.
class GrowingFile {
public:
    explicit GrowingFile(std::filesystem::path file);
    GrowingFile(const GrowingFile&) = delete;
    GrowingFile& operator=(const GrowingFile&) = delete;
    /// Removes the file unless finish() has returned.
    ~GrowingFile();

    [[nodiscard]] std::ostream& stream() { return stream_; }
    /// Throws Error naming the file where not all of it could be written.
    void finish();

private:
    std::filesystem::path file_;
    std::ofstream stream_;
    bool whole_ = false;
};

}  // namespace gputomo::files
