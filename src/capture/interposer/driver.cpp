#include "capture/interposer/driver.hpp"

namespace gputomo::capture {
namespace {

Driver load() {
    Driver driver;
#define GPUTOMO_CAPTURE_LOAD(member, symbol, parameters) \
    driver.member = reinterpret_cast<decltype(driver.member)>(exported_by_driver(symbol));
    GPUTOMO_CAPTURE_DRIVER(GPUTOMO_CAPTURE_LOAD)
#undef GPUTOMO_CAPTURE_LOAD
    return driver;
}

}  // namespace

const Driver& driver() {
    static const Driver loaded = load();
    return loaded;
}

Aside::Aside() {
    if (driver().exchange_capture_mode != nullptr) driver().exchange_capture_mode(&mode_);
}

Aside::~Aside() {
    if (driver().exchange_capture_mode != nullptr) driver().exchange_capture_mode(&mode_);
}

}  // namespace gputomo::capture
