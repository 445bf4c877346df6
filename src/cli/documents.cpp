// SPDX-License-Identifier: MIT
#include "cli/documents.hpp"

#include <array>

#include "cli/document_texts.hpp"

namespace kbench::cli {

std::span<const Document> documents() {
  static constexpr std::array kDocuments = {Document{"plan", kPLANText},
                                            Document{"run-file", kRUNFILEText}};
  return kDocuments;
}

}  // namespace kbench::cli
