#include "results/outcome.hpp"

namespace gputomo::results {

std::string_view name_of(CodeResult result) {
    switch (result) {
        case CodeResult::passed: return "passed";
        case CodeResult::failed: return "failed";
        case CodeResult::unavailable: break;
    }
    return "unavailable";
}

}  // namespace gputomo::results
