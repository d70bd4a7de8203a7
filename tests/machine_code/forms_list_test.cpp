// This test says of each row of the instruction table whether it is executed, and with what it was compared. It fails
// where forms.txt lacks a row, or says something else of it. With GPUTOMO_UPDATE_FORMS set in the environment it writes
// that file.
#include "capture/decompress.hpp"
#include "capture/fatbin.hpp"
#include "sass/code.hpp"
#include "sass/cubin.hpp"
#include "sass/cubin_writer.hpp"
#include "sass/form.hpp"
#include "sim/machine_code/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace gputomo::sim::machine_code {
namespace {

const std::filesystem::path kTests = GPUTOMO_SOURCE_DIR "/tests";

std::string content(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::stringstream bytes;
    bytes << stream.rdbuf();
    return bytes.str();
}

using RowSet = std::set<const sass::Row*>;

void add_rows(const std::string& code, RowSet& rows) {
    const sass::Cubin cubin(std::as_bytes(std::span(code)));
    for (const auto& kernel : cubin.kernels()) {
        const auto program = prepare(cubin, kernel, [](std::string_view) { return std::uint64_t{0}; });
        for (const Step& step : program.steps)
            if (step.flow != Flow::refused && step.instruction.form != nullptr) rows.insert(step.instruction.form->row);
    }
}

/// Rows of the kernels whose results an H200 gave, too (forms_test.cpp, warpgroup_test.cpp).
RowSet rows_of_gpu() {
    RowSet rows;
    for (const auto* name : {"forms.fatbin", "warpgroup.fatbin", "sparse_products.fatbin"}) {
        const auto fatbin = content(kTests / "machine_code/fixtures" / name);
        for (const auto& member : capture::members(std::as_bytes(std::span(fatbin))))
            if (member.kind == capture::FatbinMember::Kind::cubin) add_rows(capture::payload(member), rows);
    }
    // tensor_copies_test.cpp and clusters_test.cpp
    for (const auto* const file : {"tensors.cubin", "clusters.cubin"})
        add_rows(content(kTests / "machine_code/fixtures" / file), rows);
    return rows;
}

/// Rows of kernels whose results are those of their PTX, or of the host's arithmetic.
RowSet rows_of_fixtures() {
    RowSet rows;
    for (const auto& entry : std::filesystem::directory_iterator(kTests / "machine_code/fixtures"))
        if (entry.path().extension() == ".cubin") add_rows(content(entry.path()), rows);
    return rows;
}

/// What becomes of the instructions of a row: how many are executed, and why the others are not.
struct Executions {
    int executed = 0;
    std::set<std::string> reasons;
};

/// The address of an instruction in a kernel of its own. Instructions that name the driver's constants, or places
/// outside the kernel, are refused for that; what counts is their form.
bool is_about_the_form(const std::string& reason) {
    return reason.find("constant bank") == std::string::npos && reason.find("c[0x0]") == std::string::npos;
}

void add_execution(const sass::Word& word, int sm, std::map<const sass::Row*, Executions>& all) {
    const auto instruction = sass::decode(word, sm, 0);
    // The writer knows one compute capability only: the word and the capability are put in place afterwards.
    constexpr sass::Word kPlaceholder{0x1234567800007802, 0x000fc00000000f00};  // MOV R0, 0x12345678
    const std::vector<sass::CubinKernel> kernels{{.name = "k", .code = {kPlaceholder}, .registers = 255}};
    auto bytes = sass::write_cubin(kernels, 90);
    const auto at = std::ranges::search(bytes, std::as_bytes(std::span(&kPlaceholder.low, 1))).begin();
    ASSERT_NE(at, bytes.end());
    std::ranges::copy(std::as_bytes(std::span(&word.low, 1)), at);
    std::ranges::copy(std::as_bytes(std::span(&word.high, 1)), at + sizeof word.low);
    constexpr std::size_t kComputeCapability = 48;  // in the flags of the file
    for (const std::size_t place : {kComputeCapability, kComputeCapability + 1})
        if (bytes[place] == std::byte{90}) bytes[place] = static_cast<std::byte>(sm);
    const auto program = prepare(sass::Cubin(bytes), "k", [](std::string_view) { return std::uint64_t{0}; });
    const Step& step = program.steps.at(0);
    Executions& found = all[instruction.form->row];
    if (step.flow != Flow::refused)
        ++found.executed;
    else if (is_about_the_form(step.refusal))
        found.reasons.insert(step.refusal);
}

std::string line_of(const sass::Row& row, const Executions& found, const RowSet& gpu, const RowSet& fixtures) {
    std::string text(sass::name_of(row.operation));
    char opcode[8];
    std::snprintf(opcode, sizeof opcode, "%03x", static_cast<unsigned>(row.opcode));
    text += std::string(" ") + opcode + " sm_" + std::to_string(row.first_sm) + ".." + std::to_string(row.last_sm) +
            " [" + std::string(row.modifiers) + "] " + std::string(row.operands) + " | ";
    std::string reasons;
    for (const auto& reason : found.reasons) reasons += (reasons.empty() ? "" : "; ") + reason;
    if (found.executed == 0) return text + "refused: " + (reasons.empty() ? "no example is executed" : reasons);
    text += found.reasons.empty() ? "executed" : "executed in part (" + reasons + ")";
    return text + (gpu.contains(&row)        ? ", compared with an H200"
                   : fixtures.contains(&row) ? ", compared with PTX and the host"
                                             : ", compared with nothing");
}

std::vector<std::string> lines_of_all_rows() {
    std::map<const sass::Row*, Executions> executions;
    for (const int sm : {80, 90}) {
        std::istringstream lines(content(kTests / ("sass/fixtures/sm_" + std::to_string(sm) + ".txt")));
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with('#')) continue;
            std::istringstream words(line);
            std::uint64_t address = 0;
            sass::Word word;
            words >> std::hex >> address >> word.high >> word.low;
            add_execution(word, sm, executions);
        }
    }
    const RowSet gpu = rows_of_gpu(), fixtures = rows_of_fixtures();
    std::vector<std::string> lines;
    for (const sass::Row& row : sass::rows())
        if (!row.formats.empty()) lines.push_back(line_of(row, executions[&row], gpu, fixtures));
    return lines;
}

TEST(FormsList, SaysOfEachRowWhetherItIsExecutedAndWithWhatItWasCompared) {
    const auto lines = lines_of_all_rows();
    const auto file = kTests / "machine_code/forms.txt";
    if (std::getenv("GPUTOMO_UPDATE_FORMS") != nullptr) {
        std::ofstream out(file);
        out << "# Of each row of src/sass/table.cpp whether its instructions are executed, and with what they were "
               "compared.\n# GPUTOMO_UPDATE_FORMS=1 test_machine_code --gtest_filter='FormsList*' writes this file.\n";
        for (const auto& line : lines) out << line << "\n";
    }
    std::istringstream text(content(file));
    std::vector<std::string> listed;
    for (std::string line; std::getline(text, line);)
        if (!line.starts_with('#')) listed.push_back(line);
    ASSERT_GT(lines.size(), 300U);
    for (const auto& line : lines)
        EXPECT_NE(std::ranges::find(listed, line), listed.end()) << "forms.txt lacks: " << line;
    EXPECT_EQ(listed.size(), lines.size()) << "forms.txt has rows that the table has not";
}

TEST(FormsList, NamesNoRowThatIsRefusedWithoutAReason) {
    for (const auto& line : lines_of_all_rows())
        EXPECT_THAT(line, testing::Not(testing::HasSubstr("no example"))) << line;
}

}  // namespace
}  // namespace gputomo::sim::machine_code
