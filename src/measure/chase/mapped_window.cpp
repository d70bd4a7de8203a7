#include "measure/chase/mapped_window.hpp"

#include <utility>

namespace gputomo::measure {
namespace {

/// Neighbours of a sequence are this many bytes apart within their pages: in different lines of any cache, and in
/// different words on a later visit.
constexpr std::uint64_t kSpread = 256 + 8;
/// For textures, whose first cache is small, the displacement puts all of them into one of its sets.
constexpr std::uint64_t kTextureSpread = 256 + 4;
/// Windows start at a multiple of this, so that a TLB entry starts there however much it spans. An aliased window
/// starts at the last mapping before such an address.
constexpr std::uint64_t kAlignment = std::uint64_t{1} << 30;

}  // namespace

MappedWindow MappedWindow::aliased(device::Device& device, std::uint64_t word, std::uint64_t count) {
    const std::uint64_t bytes = word * count + kAlignment;
    const auto begin = device.map_aliased(device.mapping_granularity(), Bytes{static_cast<std::int64_t>(word)},
                                          Bytes{static_cast<std::int64_t>(bytes)});
    const std::uint64_t until_aligned = (kAlignment - begin % kAlignment) % kAlignment;
    return {device, begin, {begin + until_aligned / word * word, word * count, word, true}};
}

MappedWindow MappedWindow::plain(device::Device& device, std::uint64_t bytes, std::uint64_t word,
                                 std::uint64_t alignment) {
    const auto begin = device.allocate(Bytes{static_cast<std::int64_t>(bytes + alignment)});
    return {device, begin, {(begin + alignment - 1) / alignment * alignment, bytes, word, false}};
}

MappedWindow::MappedWindow(MappedWindow&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)), begin_(other.begin_), window_(other.window_) {}

MappedWindow::~MappedWindow() {
    if (device_ != nullptr) device_->free(begin_);
}

ArrayPlace MappedWindow::place(LoadHint hint) const {
    const auto page = window_.aliased ? static_cast<std::uint64_t>(device_->mapping_granularity().count()) : kSmallPage;
    ArrayPlace place{.base = window_.base, .spread = kSpread, .page = page, .aliased = window_.aliased};
    if (hint != LoadHint::texture) return place;
    place.spread = kTextureSpread;
    place.by_page = false;
    place.texture = device_->linear_texture(window_.base, Bytes{static_cast<std::int64_t>(window_.bytes)},
                                            device::TexelFormat::u32);
    return place;
}

}  // namespace gputomo::measure
