# cmake -DFILES=a.cu,b.cu -DFOLDER=… -DNAMESPACE=… -DOUTPUT=x.hpp -P EmbedTexts.cmake
# Writes texts as C++ strings, so that binaries need no further files: names.cuh becomes kNamesText.
# The comment at the top of a file is left out.
string(REPLACE "," ";" files "${FILES}")
set(texts "")
foreach(file IN LISTS files)
  file(READ ${FOLDER}/${file} text)
  string(REGEX REPLACE "^(//[^\n]*\n)+" "" text "${text}")
  get_filename_component(stem ${file} NAME_WE)
  string(REPLACE "_" ";" words ${stem})
  set(name "")
  foreach(word IN LISTS words)
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND name ${first}${rest})
  endforeach()
  string(APPEND texts
         "inline constexpr std::string_view k${name}Text = R\"embedded(${text})embedded\";\n\n")
endforeach()
file(WRITE ${OUTPUT}.new "// Made from the files of ${FOLDER}.
#pragma once

#include <string_view>

namespace ${NAMESPACE} {

${texts}}  // namespace ${NAMESPACE}
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
file(REMOVE ${OUTPUT}.new)
