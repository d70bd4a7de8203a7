#include "scan/files.hpp"

#include "units/file.hpp"

namespace gputomo::scan {

Scan load_scan(const std::filesystem::path& file) {
    return scan_from_json(read_file(file, "a scan.json"), file.string());
}

}  // namespace gputomo::scan
