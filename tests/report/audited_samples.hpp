// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "record/audit_samples.hpp"

namespace kbench::samples {

inline AuditFile audits(std::vector<ProblemAudit> problems) {
  AuditFile file;
  file.audits = std::move(problems);
  return file;
}

/// Audits of gpu_run(): one problem is degenerate, one is not, and one audit failed.
inline AuditFile gpu_audits() {
  return audits({healthy("level1/2_Softmax"), degenerate("level1/19_ReLU"),
                 failed_audit("level2/3_MatmulGelu"), degenerate("level9/1_OnNobodysManifest")});
}

}  // namespace kbench::samples
