// The operations of machine code, as execution distinguishes them.
#pragma once

#include <cstdint>
#include <string_view>

namespace gputomo::sass {

// clang-format off
#define GPUTOMO_SASS_OPERATIONS(X)                                                                                   \
    X(ACQBULK) X(ARRIVES) X(ATOM) X(ATOMG) X(ATOMS) X(B2R) X(BAR) X(BGMMA) X(BMMA) X(BMOV) X(BMSK) X(BPT) X(BRA)     \
    X(BREAK) X(BREV) X(BRX) X(BSSY) X(BSYNC) X(CALL) X(CCTL) X(CGAERRBAR) X(CLMAD) X(CS2R) X(CS2UR) X(DADD)          \
    X(DEPBAR) X(DFMA) X(DMMA) X(DMUL) X(DSETP) X(ELECT) X(ENDCOLLECTIVE) X(ERRBAR) X(EXIT) X(F2F) X(F2FP) X(F2I)     \
    X(F2IP) X(FADD) X(FCHK) X(FENCE) X(FFMA) X(FLO) X(FMNMX) X(FMUL) X(FRND) X(FSEL) X(FSET) X(FSETP) X(HADD2)       \
    X(HFMA2) X(HGMMA) X(HMMA) X(HMNMX2) X(HMUL2) X(HSET2) X(HSETP2) X(I2F) X(I2FP) X(I2I) X(I2IP) X(IABS) X(IADD3)   \
    X(IDP) X(IGMMA) X(IMAD) X(IMMA) X(IMNMX) X(ISETP) X(JMP) X(KILL) X(LD) X(LDC) X(LDCU) X(LDG) X(LDGDEPBAR)        \
    X(LDGSTS) X(LDL) X(LDS) X(LDSM) X(LEA) X(LEPC) X(LOP3) X(MATCH) X(MEMBAR) X(MOV) X(MOVM) X(MUFU) X(NANOSLEEP)    \
    X(NOP) X(P2R) X(PLOP3) X(PMTRIG) X(POPC) X(PREEXIT) X(PRMT) X(QGMMA) X(QSPC) X(R2P) X(R2UR) X(REDAS) X(REDG)       \
    X(REDUX)                                                                                                         \
    X(RET) X(RPCMOV) X(S2R) X(S2UR) X(SEL) X(SGXT) X(SHF) X(SHFL) X(ST) X(STAS) X(STG) X(STL) X(STS) X(STSM)         \
    X(SULD) X(SURED) X(SUST) X(SYNCS) X(TEX) X(TLD) X(TLD4) X(TXD) X(TXQ) X(UBLKCP) X(UBLKPF) X(UBLKRED) X(UBMSK)    \
    X(UBREV) X(UCGABAR_ARV) X(UCGABAR_WAIT) X(UFLO) X(UIADD3) X(UIMAD) X(UISETP) X(ULDC) X(ULEA) X(ULOP3) X(UMOV)    \
    X(UP2UR) X(UPLOP3) X(UPOPC) X(UPRMT) X(UR2UP) X(USEL) X(USETMAXREG) X(USETSHMSZ) X(USGXT) X(USHF) X(UTMACCTL)    \
    X(UTMACMDFLUSH) X(UTMALDG) X(UTMAPF) X(UTMAREDG) X(UTMASTG) X(VABSDIFF) X(VABSDIFF4) X(VIADD) X(VIADDMNMX)       \
    X(VIMNMX) X(VIMNMX3) X(VOTE) X(VOTEU) X(WARPGROUP) X(WARPSYNC) X(YIELD)

// clang-format on

enum class Operation : std::uint16_t {
#define X(name) name,
    GPUTOMO_SASS_OPERATIONS(X)
#undef X
        count
};

/// "FADD"
[[nodiscard]] std::string_view name_of(Operation operation);

}  // namespace gputomo::sass
