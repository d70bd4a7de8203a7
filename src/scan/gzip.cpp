#include "scan/gzip.hpp"

#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <stdexcept>

namespace gputomo::scan {
namespace {

/// The window size that makes zlib write the header and trailer of gzip (zlib.h, deflateInit2), with the largest
/// window.
constexpr int kGzipWindow = MAX_WBITS + 16;
/// The default of zlib (zlib.h, deflateInit2): more memory compresses slightly faster.
constexpr int kMemoryLevel = 8;
constexpr std::string_view kMagic = "\x1f\x8b";

z_stream stream_over(std::string_view data) {
    z_stream stream{};
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));  // zlib does not write to its input
    stream.avail_in = static_cast<uInt>(data.size());
    return stream;
}

}  // namespace

bool is_gzip(std::string_view data) { return data.starts_with(kMagic); }

std::string gzip(std::string_view data) {
    z_stream stream = stream_over(data);
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("zlib: deflateInit2 failed");
    std::string out(deflateBound(&stream, static_cast<uLong>(data.size())), '\0');
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int result = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    if (result != Z_STREAM_END) throw std::runtime_error("zlib: deflate failed");
    return out;
}

std::string gunzip(std::string_view data, std::string_view origin) {
    z_stream stream = stream_over(data);
    if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw std::runtime_error("zlib: inflateInit2 failed");
    std::string out;
    std::array<char, 65536> piece{};
    int result = Z_OK;
    while (result == Z_OK && out.size() <= kLargestFile) {
        stream.next_out = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_out = static_cast<uInt>(piece.size());
        result = inflate(&stream, Z_NO_FLUSH);
        out.append(piece.data(), piece.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    if (result != Z_STREAM_END)
        throw InputError(fmt::format(
            "{}: found compressed data that are damaged, cut off or too large; expected a complete gzip file", origin));
    return out;
}

}  // namespace gputomo::scan
