// SPDX-License-Identifier: MIT
#include "cli/help/examples.hpp"

#include <array>

namespace kbench::cli {
namespace {

constexpr std::array kExamples = {
    Example{"eval", "kbench eval", "score the shipped candidates of the shipped problems"},
    Example{"eval", "kbench eval level1 --candidates alpha=kernels/alpha --out run.jsonl",
            "score a model's folder on the problems of a level"},
    Example{"eval", "kbench eval --problem 19_ReLU --candidate relu.cu", "score one file"},
    Example{"eval",
            "kbench eval --candidates kernels --fail-under correct=1 --format junit=kbench.xml",
            "a gate for CI: exit code 3 if a candidate is not correct"},
    Example{"check", "kbench check kernels/*.cu", "check that they compile and load"},
    Example{"check", "kbench check answer.md --format json", "the same for programs"},
    Example{"list", "kbench list level2", "inputs, parameters and sizes of a level's problems"},
    Example{"list", "kbench list 3_Softmax --names", "the names that a plan may use"},
    Example{"audit", "kbench audit level1", "find problems on which trivial answers pass"},
    Example{"report", "kbench report run.jsonl", "results of a run"},
    Example{"report", "kbench report run.jsonl --format html=run.html", "a page for the browser"},
    Example{"report", "kbench report alpha.jsonl beta.jsonl --k 1,5,10",
            "several models side by side"},
    Example{"report", "kbench report run.jsonl --select level=1 --select 'outcome!=correct'",
            "only level 1; lists only the failures"},
    Example{"show", "kbench show run.jsonl 19_ReLU/0", "everything about one candidate"},
    Example{"show", "kbench show run.jsonl '*Softmax*' --select model=alpha --source",
            "the matching candidates of a model, with source"},
    Example{"watch", "kbench watch run.jsonl", "progress of a run, and its newest failures"},
    Example{"compare", "kbench compare old.jsonl new.jsonl", "what became faster, slower, broken"},
    Example{"compare", "kbench compare main.jsonl branch.jsonl --fail-on regression=5%",
            "a gate: exit code 3 if a sample is slower by more"},
    Example{"baseline", "kbench baseline level1 --baseline compile --out h200.jsonl",
            "measure times on this machine, for --baseline-file"},
    Example{"import", "kbench import runs/my_run", "convert KernelBench's results to a run file"},
    Example{"export", "kbench export run.jsonl --format kernelbench --out runs",
            "convert the run for KernelBench's own scripts"},
    Example{"help", "kbench help eval", "the same as kbench eval --help"},
    Example{"help", "kbench help plan", "the language of plans in kernel candidates"},
    Example{"help", "kbench help run-file", "every field of a run file"},
    Example{"doctor", "kbench doctor", "show what this machine has and lacks"},
    Example{"completion", "source <(kbench completion bash)", "complete in this shell"},
    Example{"completion", "kbench completion fish > ~/.config/fish/completions/kbench.fish",
            "complete in every fish from now on"},
};

}  // namespace

std::span<const Example> examples() { return kExamples; }

}  // namespace kbench::cli
