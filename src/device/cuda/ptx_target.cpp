// The PTX versions that drivers accept, from the release notes in the PTX ISA manual.
#include "device/cuda/driver.hpp"

#include <algorithm>
#include <array>

namespace gputomo::device::cuda {
namespace {

struct IsaRow {
    int driver;  // smallest driver version, as cuDriverGetVersion returns it
    int isa;     // major * 10 + minor
};
constexpr std::array kIsaOfDriver{
    IsaRow{8000, 50},  IsaRow{9000, 60},  IsaRow{9010, 61},  IsaRow{9020, 62},  IsaRow{10000, 63}, IsaRow{10010, 64},
    IsaRow{10020, 65}, IsaRow{11000, 70}, IsaRow{11010, 71}, IsaRow{11020, 72}, IsaRow{11030, 73}, IsaRow{11040, 74},
    IsaRow{11050, 75}, IsaRow{11060, 76}, IsaRow{11070, 77}, IsaRow{11080, 78}, IsaRow{12000, 80}, IsaRow{12010, 81},
    IsaRow{12020, 82}, IsaRow{12030, 83}, IsaRow{12040, 84}, IsaRow{12050, 85}, IsaRow{12070, 86}, IsaRow{12080, 87},
    IsaRow{12090, 88}, IsaRow{13000, 90},
};

struct TargetRow {
    int sm;
    int isa;  // first version with the target
};
constexpr std::array kTargets{
    TargetRow{30, 30},  TargetRow{32, 40},  TargetRow{35, 31},  TargetRow{37, 41},  TargetRow{50, 40},
    TargetRow{52, 41},  TargetRow{53, 42},  TargetRow{60, 50},  TargetRow{61, 50},  TargetRow{62, 50},
    TargetRow{70, 60},  TargetRow{72, 61},  TargetRow{75, 63},  TargetRow{80, 70},  TargetRow{86, 71},
    TargetRow{87, 74},  TargetRow{88, 90},  TargetRow{89, 78},  TargetRow{90, 78},  TargetRow{100, 86},
    TargetRow{103, 88}, TargetRow{110, 90}, TargetRow{120, 87}, TargetRow{121, 88},
};

int isa_of(int driver_version) {
    int isa = kIsaOfDriver.front().isa;
    for (const IsaRow& row : kIsaOfDriver)
        if (row.driver <= driver_version) isa = row.isa;
    return isa;
}

}  // namespace

Device::PtxTarget ptx_target(int driver_version, int compute_major, int compute_minor) {
    const int isa = isa_of(driver_version);
    const int wanted = compute_major * 10 + compute_minor;
    // PTX for a plain target runs on every later GPU, so the nearest older target serves a GPU that is newer than this
    // PTX version.
    int sm = kTargets.front().sm;
    for (const TargetRow& row : kTargets)
        if (row.sm <= wanted && row.isa <= isa) sm = std::max(sm, row.sm);
    return {.version_major = isa / 10, .version_minor = isa % 10, .sm = sm};
}

}  // namespace gputomo::device::cuda
