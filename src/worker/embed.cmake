# Writes INPUT as a C++ string into OUTPUT.
file(READ ${INPUT} text)
file(WRITE ${OUTPUT}.new "// Made from problem_host.py.
#pragma once

namespace kbench::worker {

inline constexpr const char* kProblemHostSource = R\"python_source(${text})python_source\";

}  // namespace kbench::worker
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
file(REMOVE ${OUTPUT}.new)
