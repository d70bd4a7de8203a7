#include "device/machine_opcodes.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace gputomo::device {
namespace {

constexpr std::uint16_t kBaseMask = 0x1ff;

constexpr bool kSlow = true;

constexpr OpcodeRow kRows[] = {
    {0x001, "PMTRIG"},
    {0x002, "MOV"},
    {0x003, "P2R"},
    {0x004, "R2P"},
    {0x005, "CS2R"},
    {0x006, "VOTE"},
    {0x007, "SEL"},
    {0x008, "FSEL"},
    {0x009, "FMNMX"},
    {0x00a, "FSET"},
    {0x00b, "FSETP"},
    {0x00c, "ISETP"},
    {0x010, "IADD3"},
    {0x011, "LEA"},
    {0x012, "LOP3"},
    {0x013, "IABS"},
    {0x014, "VABSDIFF"},
    {0x016, "PRMT"},
    {0x017, "IMNMX"},
    {0x019, "SHF"},
    {0x01a, "SGXT"},
    {0x01b, "BMSK"},
    {0x01c, "PLOP3"},
    {0x020, "FMUL"},
    {0x021, "FADD"},
    {0x023, "FFMA"},
    {0x024, "IMAD"},
    {0x025, "IMAD.WIDE"},
    {0x026, "IDP"},
    {0x027, "IMAD.HI"},
    {0x028, "DMUL", kSlow},
    {0x029, "DADD", kSlow},
    {0x02a, "DSETP", kSlow},
    {0x02b, "DFMA", kSlow},
    {0x02e, "ACQBULK", kSlow},
    {0x02f, "ELECT"},
    {0x030, "HADD2"},
    {0x031, "HFMA2"},
    {0x032, "HMUL2"},
    {0x033, "HSET2"},
    {0x034, "HSETP2"},
    {0x035, "HFMA2.MMA"},
    {0x036, "VIADD"},
    {0x037, "IMMA", kSlow},
    {0x03b, "LDSM", kSlow},
    {0x03c, "HMMA", kSlow},
    {0x03f, "DMMA", kSlow},
    {0x040, "HMNMX2"},
    {0x045, "I2FP"},
    {0x048, "VIMNMX"},
    {0x082, "UMOV"},
    {0x086, "VOTEU"},
    {0x087, "USEL"},
    {0x08c, "UISETP"},
    {0x090, "UIADD3"},
    {0x091, "ULEA"},
    {0x092, "ULOP3"},
    {0x096, "UPRMT"},
    {0x099, "USHF"},
    {0x09b, "UBMSK"},
    {0x09c, "UPLOP3"},
    {0x0a4, "UIMAD"},
    {0x0a5, "UIMAD.WIDE"},
    {0x0b9, "ULDC"},
    {0x0bd, "UFLO"},
    {0x0bf, "UPOPC"},
    {0x0ca, "R2UR"},
    {0x0cb, "CS2UR"},
    {0x100, "FLO", kSlow},
    {0x101, "BREV", kSlow},
    {0x104, "F2F", kSlow},
    {0x105, "F2I", kSlow},
    {0x106, "I2F", kSlow},
    {0x107, "FRND", kSlow},
    {0x108, "MUFU", kSlow},
    {0x109, "POPC", kSlow},
    {0x110, "F2F.F64", kSlow},
    {0x111, "F2I.F64", kSlow},
    {0x112, "I2F.F64", kSlow},
    {0x113, "FRND.F64", kSlow},
    {0x118, "NOP"},
    {0x119, "S2R"},
    {0x11a, "DEPBAR"},
    {0x11c, "B2R"},
    {0x11d, "BAR", kSlow},
    {0x141, "BSYNC"},
    {0x142, "BREAK"},
    {0x143, "CALL.ABS"},
    {0x144, "CALL.REL"},
    {0x145, "BSSY"},
    {0x146, "YIELD"},
    {0x147, "BRA"},
    {0x148, "WARPSYNC"},
    {0x149, "BRX"},
    {0x14a, "JMP"},
    {0x14d, "EXIT"},
    {0x150, "RET"},
    {0x15b, "KILL"},
    {0x15c, "BPT"},
    {0x15d, "NANOSLEEP", kSlow},
    {0x160, "TEX", kSlow},
    {0x161, "TEX", kSlow},
    {0x163, "TLD4", kSlow},
    {0x164, "TLD4", kSlow},
    {0x166, "TLD", kSlow},
    {0x167, "TLD", kSlow},
    {0x16f, "TXQ", kSlow},
    {0x170, "TXQ", kSlow},
    {0x180, "LD", kSlow},
    {0x181, "LDG", kSlow},
    {0x182, "LDC"},
    {0x183, "LDL", kSlow},
    {0x184, "LDS", kSlow},
    {0x185, "ST", kSlow},
    {0x186, "STG", kSlow},
    {0x187, "STL", kSlow},
    {0x188, "STS", kSlow},
    {0x189, "SHFL", kSlow},
    {0x18a, "ATOM", kSlow},
    {0x18b, "ATOM", kSlow},
    {0x18c, "ATOMS", kSlow},
    {0x18d, "ATOMS", kSlow},
    {0x18e, "RED", kSlow},
    {0x18f, "CCTL", kSlow},
    {0x192, "MEMBAR", kSlow},
    {0x199, "SULD", kSlow},
    {0x19a, "SULD", kSlow},
    {0x19d, "SUST", kSlow},
    {0x19e, "SUST", kSlow},
    {0x1a1, "MATCH", kSlow},
    {0x1a3, "ATOMG", kSlow},
    {0x1a8, "ATOMG", kSlow},
    {0x1a9, "ATOMG", kSlow},
    {0x1aa, "QSPC", kSlow},
    {0x1ab, "ERRBAR", kSlow},
    {0x1ac, "LDCU"},
    {0x1ae, "LDGSTS", kSlow},
    {0x1af, "LDGDEPBAR", kSlow},
    {0x1b2, "SYNCS", kSlow},
    {0x1c2, "R2UR"},
    {0x1c3, "S2UR"},
    {0x1c4, "REDUX", kSlow},
};
static_assert(std::ranges::is_sorted(kRows, {}, &OpcodeRow::base));

struct SpecialRow {
    std::uint8_t number;
    std::string_view name;
};
constexpr std::array kSpecialRegisters{
    SpecialRow{0x00, "SR_LANEID"},  SpecialRow{0x21, "SR_TID.X"},
    SpecialRow{0x22, "SR_TID.Y"},   SpecialRow{0x23, "SR_TID.Z"},
    SpecialRow{0x25, "SR_CTAID.X"}, SpecialRow{0x26, "SR_CTAID.Y"},
    SpecialRow{0x27, "SR_CTAID.Z"}, SpecialRow{0x43, "SR_VIRTUALSMID"},
    SpecialRow{0x50, "SR_CLOCKLO"}, SpecialRow{0x51, "SR_CLOCKHI"},
    SpecialRow{0xff, "SRZ"},
};

}  // namespace

const OpcodeRow* opcode_row(std::uint16_t opcode) {
    const auto base = static_cast<std::uint16_t>(opcode & kBaseMask);
    const auto* const found = std::ranges::lower_bound(kRows, base, {}, &OpcodeRow::base);
    return found != std::end(kRows) && found->base == base ? found : nullptr;
}

std::string_view special_register_name(std::uint8_t number) {
    const auto* const found = std::ranges::find(kSpecialRegisters, number, &SpecialRow::number);
    return found == kSpecialRegisters.end() ? std::string_view{} : found->name;
}

bool is_clock(std::uint8_t special_register) { return special_register == 0x50 || special_register == 0x51; }

}  // namespace gputomo::device
