# Writes the Python files of FOLDER named in NAMES as C++ strings into OUTPUT. NAMES is separated by
# commas; a file comes after those that it imports.
string(REPLACE "," ";" names "${NAMES}")
set(rows "")
foreach(name IN LISTS names)
  file(READ ${FOLDER}/${name}.py text)
  string(APPEND rows "    {\"${name}\", R\"python_source(${text})python_source\"},\n")
endforeach()
file(WRITE ${OUTPUT}.new "// Made from the Python files of src/worker/python.
#pragma once

namespace kbench::worker {

struct EmbeddedSource {
  const char* name;  ///< module of the package kbench_worker
  const char* source;
};

inline constexpr EmbeddedSource kEmbeddedSources[] = {
${rows}};

}  // namespace kbench::worker
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
file(REMOVE ${OUTPUT}.new)
