#include "files/growing_file.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace gputomo::files {

GrowingFile::GrowingFile(std::filesystem::path file)
    : file_(std::move(file)), stream_(file_, std::ios::binary | std::ios::trunc) {}

GrowingFile::~GrowingFile() {
    if (whole_) return;
    stream_.close();
    std::error_code ignored;
    // A device is not removed.
    if (std::filesystem::is_regular_file(file_, ignored)) std::filesystem::remove(file_, ignored);
}

void GrowingFile::finish() {
    stream_.close();
    if (!stream_) throw Error(fmt::format("{}: could not be written; is the disk full?", file_.string()));
    whole_ = true;
}

}  // namespace gputomo::files
