// SPDX-License-Identifier: MIT
#include "record/flags.hpp"

#include <algorithm>

#include "kbench/error.hpp"

namespace kbench {
namespace {

using enum FlagSubject;

constexpr FlagRow kFlags[] = {
    {"uninitialized_read", kCandidate, "a kernel read memory that nothing had written",
     "see the findings; initialize the memory", true},
    {"barrier_divergence", kCandidate, "only some threads of a warp or block reached a barrier",
     "see the findings; move the barrier out of the condition", true},
    {"shared_race", kCandidate, "two threads accessed shared memory without a barrier between them",
     "see the findings; add a barrier", true},
    {"global_race", kCandidate, "two threads accessed global memory without synchronizing",
     "see the findings; use atomics, or two kernels", true},
    {"read_clock", kCandidate, "a kernel read a clock", "leave it out: it has no honest use here",
     true},
    {"nondeterministic_bits", kCandidate,
     "repeated calls differ in some bits, within the tolerance",
     "expected of float atomics; else look for a race"},
    {"near_tolerance", kCandidate,
     "a few elements missed the tolerance by little, and three fresh input sets were right",
     "accumulate more accurately"},
    {"no_kernels", kCandidate,
     "the call ran no kernel and no operator that computes, although the reference writes outputs",
     "compute the answer in each call"},
    {"distribution_unchecked", kMachine,
     "an input distribution was left out because memory was short",
     "use a device with more memory, or smaller sizes"},
    {"sizes_unchecked", kProblem, "the problem could not be opened at one of its other sizes",
     "see sizes_failures of the run"},
    {"weights_by_seed", kCandidate,
     "parts of a module keep the values that their constructor drew, and match no tensor of the "
     "reference",
     ""},
    {"reads_machine", kCandidate,
     "a kernel reads a register that differs between the executor and a GPU", "judge it on a GPU"},
    {"host_busy", kMachine,
     "no times: host code in the timed calls waited for a processor most of the time",
     "run fewer programs at the same time"},
    {"init_arguments_incomplete", kProblem,
     "not all of the problem's init arguments could be sent to the module unchanged",
     "use numbers, texts, tensors and containers of them as init arguments"},
    {"host_tensors_moved", kCandidate,
     "forward needed tensors on the device that the constructor had left on the CPU",
     "register them as buffers or parameters"},
    {"undefined_unchecked", kMachine,
     "the check for answers that are right by chance could not be loaded", ""},
    {"state_not_updated", kCandidate,
     "a call does not leave in the model's state what the reference leaves there",
     "update running statistics as the reference does"},
    {"right_in_eval_mode", kCandidate, "the answer is right if both models are in eval mode",
     "judge with --eval-mode if that is meant"},
    {"nan_dropped", kCandidate, "the answer is a number where the reference's is NaN", ""},
    {"non_finite_spread", kCandidate,
     "the answer is NaN or infinite where the reference's is finite", ""},
    {"infinity_bounded", kCandidate,
     "the answer is a large number where the reference's is infinite", ""},
    {"other_ties", kCandidate,
     "an output of indices names other elements than the reference, of equal value", ""},
    {"public_seed", kRun, "the inputs come from the seed that --seed gave, so they may be known",
     "leave out --seed to score"},
    {"no_oracle", kProblem,
     "the expected output is the reference's own, because it has none in double precision near it",
     ""},
    {"dead_kernels", kCandidate, "the answer is right without the candidate's own kernels",
     "--require own-kernels rejects such candidates"},
    {"ablation_skipped", kCandidate,
     "it is not known if the answer needs the candidate's own kernels", ""},
    {"stored_baseline_unlike", kRun,
     "no speedup over a stored baseline, because it was timed in another way",
     "time the baseline again"},
    {"baseline_failed", kRun, "no speedup over a baseline, because it has no time",
     "see failed_baselines in the details"},
    {"throttled", kMachine, "power, heat or the board reduced the GPU's clocks in timed blocks",
     "lock the clocks, or cool the GPU"},
    {"trace_incomplete", kMachine, "not all kernels that ran could be traced", ""},
    {"inputs_read_back", kCandidate, "host code may have computed with the inputs",
     "compute on the device"},
    {"no_cupti", kMachine, "no profile: the GPU's records are not available",
     "see kbench doctor for what CUPTI needs"},
    {"gpu_shared", kMachine, "no times: another program used the GPU",
     "judge on a GPU that is idle"},
    {"gate_unsupported", kMachine,
     "the driver has no gate (older than CUDA 12.5), so the times are bounds", "update the driver"},
    {"gate_blind", kMachine,
     "work of other processes on the GPU would not be seen (MPS), so the times are bounds",
     "stop MPS: echo quit | nvidia-cuda-mps-control"},
    {"gate_no_room", kMachine,
     "memory for outputs is short, so each call is timed alone and its time includes host code",
     ""},
    {"gate_no_baseline", kRun, "no times: no process of a baseline could be timed",
     "see failed_baselines in the details"},
    {"gate_failed", kCandidate,
     "calls cannot be queued because one failed, so each is timed alone and its time includes "
     "host code",
     ""},
    {"gate_outputs_elsewhere", kCandidate,
     "calls cannot be queued because their outputs cannot be read, so each is timed alone and its "
     "time includes host code",
     "return tensors in device memory"},
    {"gate_inputs_written", kCandidate,
     "calls cannot be queued because they write to inputs, so each is timed alone and its time "
     "includes host code",
     ""},
    {"gate_keeps_state", kCandidate,
     "calls cannot be queued because their outputs depend on earlier calls, so each is timed alone "
     "and its time includes host code",
     ""},
    {"gate_synchronizes", kCandidate,
     "calls cannot be queued because they wait for the GPU, so each is timed alone and its time "
     "includes host code",
     "leave out .item(), synchronize() and the like"},
    {"reuses_output", kCandidate,
     "outputs do not lie in new memory, so the time includes a copy of each call's outputs",
     "return new tensors"},
    {"batched_calls", kCandidate,
     "single calls took longer than calls of a block; the times are those of single calls", ""},
    {"late_end", kCandidate,
     "blocks ended later than the candidate's process said; the later end counts", ""},
    {"host_bound", kCandidate, "the GPU was idle for most of the time that a caller waits",
     "launch fewer kernels, or do less on the host"},
    {"faster_than_memory", kCandidate,
     "a time is shorter than writing the outputs takes on this GPU", "compute the whole output"},
    {"baseline_faster_than_memory", kMachine,
     "a baseline's time is shorter than writing the outputs takes on this GPU",
     "report it: the machine or kbench is at fault"},
    {"implausible", kCandidate,
     "the time is shorter than reading the inputs and doing the operations takes",
     "look if it computes everything: a better algorithm may need less"},
    {"kbench:mismatch", kCandidate, "by kbench's own rules: mismatch", ""},
    {"kbench:illegal_write", kCandidate, "by kbench's own rules: it wrote to its inputs", ""},
    {"kbench:wrong_shape", kCandidate,
     "by kbench's own rules: a view with shared elements, or a tensor subclass", ""},
    {"kbench:wrong_dtype", kCandidate, "by kbench's own rules: it left a scalar on the host", ""},
    {"timing_failed", kCandidate, "it raised while it was timed", ""},
    {"excessive_speedup", kCandidate, "more than ten times as fast as the reference",
     "look at the code before believing it"},
    {"replaces_constants", kCandidate,
     "the candidate's file gives a constant of the problem another value", ""},
};

}  // namespace

std::string_view to_string(FlagSubject subject) {
  switch (subject) {
    case kCandidate:
      return "candidate";
    case kProblem:
      return "problem";
    case kMachine:
      return "machine";
    case kRun:
      return "run";
  }
  throw Error("unknown subject of a flag");
}

std::span<const FlagRow> flags() { return kFlags; }

const FlagRow* find_flag(std::string_view name) {
  const auto* const row = std::ranges::find(kFlags, name, &FlagRow::name);
  return row == std::end(kFlags) ? nullptr : row;
}

}  // namespace kbench
