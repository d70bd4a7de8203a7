#include "cli/app.hpp"

int main(int argc, char** argv) { return gputomo::cli::run(argc, argv); }
