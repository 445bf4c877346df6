# Writes a header with one hash over all files named in LIST.
file(STRINGS ${LIST} files)
set(all "")
foreach(file ${files})
  file(SHA256 ${file} hash)
  string(APPEND all ${hash})
endforeach()
string(SHA256 hash "${all}")
file(WRITE ${OUTPUT}.new "// Made from the sources of the judge.
#pragma once

namespace kbench::run {

/// Hash of the sources that decide a verdict: part of every record's key.
inline constexpr const char* kJudgeHash = \"${hash}\";

}  // namespace kbench::run
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
file(REMOVE ${OUTPUT}.new)
# The build compares times, but COPY_FILE does not update the time of an equal file.
file(TOUCH ${OUTPUT})
