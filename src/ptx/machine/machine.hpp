// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "kbench/ptx.hpp"
#include "ptx/machine/findings.hpp"
#include "ptx/machine/memory_map.hpp"
#include "ptx/machine/observer.hpp"
#include "ptx/parse/syntax.hpp"

/// The machine that runs decoded PTX: code, frames, warps, blocks and the grid.
namespace kbench::ptx {

constexpr unsigned kLanes = 32;
constexpr std::uint32_t kAllLanes = 0xffffffffU;

struct Context;
struct Instr;
using Execute = void (*)(Context&, const Instr&);

/// Operands with this bit set lie in the function's constants, the others in the frame's registers.
constexpr std::uint32_t kConstantBit = 0x80000000U;
constexpr std::uint32_t kNone = 0xffffffffU;

/// One decoded instruction. Operands are byte offsets of 32-lane vectors; a predicate is one mask.
/// The first cache line holds what most instructions need.
struct alignas(64) Instr {
  Execute full = nullptr;    ///< when all live lanes of the warp execute it
  Execute masked = nullptr;  ///< when only some of them do
  std::uint32_t d = kNone;
  std::array<std::uint32_t, 4> s{kNone, kNone, kNone, kNone};
  std::uint32_t extra = kNone;  ///< second destination; ld and st: offset of the Shape record
  std::int64_t imm = 0;         ///< displacement, size or another constant
  const std::uint32_t* list = nullptr;  ///< further operands
  std::uint16_t flags = 0;              ///< meaning depends on the instruction
  std::uint8_t aux = 0;                 ///< meaning depends on the instruction
  bool guard_negated = false;
  std::uint32_t slot = 0;  ///< memory instructions: index in Context::extents
  std::uint32_t guard = kNone;
  const Instr* target = nullptr;
  const void* object = nullptr;  ///< called function, or table of branch targets
  Execute body_full = nullptr, body_masked = nullptr;  ///< run by a guard or by `clears`
  /// Shape records of the registers that this instruction writes; kNone ends the list.
  const std::uint32_t* clears = nullptr;
  std::uint32_t join = 0;  ///< find_joins(): row of Trail::passes that counts it; 0: none
};

/// Uninitialized bytes, aligned to a cache line. Thousands of blocks allocate the same sizes, so
/// each host thread keeps freed memory, up to a bound, and reuses it.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::size_t size)
      : data_(size == 0 ? nullptr : allocate(size), Delete{size}), size_(size) {}
  /// Zeroed bytes; untouched pages use no memory.
  static Bytes zeros(std::size_t size, std::size_t align) {
    Bytes bytes;
    void* const block = std::calloc(size + align, 1);
    if (block == nullptr) throw std::bad_alloc();
    void* data = block;
    std::size_t space = size + align;
    std::align(align, size, data, space);
    bytes.data_ = {static_cast<std::byte*>(data), Delete{block}};
    bytes.size_ = size;
    return bytes;
  }
  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  static std::byte* allocate(std::size_t size);
  static void free(std::byte* p, std::size_t size) noexcept;
  struct Delete {
    Delete() noexcept : size(0) {}
    explicit Delete(std::size_t bytes) noexcept : size(bytes) {}
    explicit Delete(void* by_calloc) noexcept : size(0), block(by_calloc) {}
    void operator()(std::byte* p) const noexcept {
      if (block != nullptr) return std::free(block);
      free(p, size);
    }
    std::size_t size;
    void* block = nullptr;  ///< allocation of zeros()
  };
  std::unique_ptr<std::byte, Delete> data_;
  std::size_t size_ = 0;
};

/// Position of a parameter or result: in the parameter buffer (kernels) or the frame (functions).
struct ParameterSlot {
  std::uint32_t offset = 0, bytes = 0;
  bool in_register = false;  ///< function only: the offset is that of a register
};

struct Function {
  std::string name;
  bool entry = false;
  std::vector<Instr> code;
  std::vector<Position> positions;  ///< by instruction
  std::vector<std::string> texts;   ///< by instruction
  std::vector<std::unique_ptr<std::uint32_t[]>> lists;
  std::vector<std::unique_ptr<std::vector<const Instr*>>> tables;  ///< of brx.idx
  Bytes constants;
  std::uint32_t register_bytes = 0;       ///< of one frame, including shape records
  std::uint32_t shapes_offset = 0;        ///< begin of the shape records, after the registers
  std::uint32_t local_bytes = 0;          ///< of one call: variables, parameters and results
  std::uint32_t local_stack = 0;          ///< of one call and all calls below it
  std::uint32_t shared_bytes = 0;         ///< entries: where dynamic shared memory begins
  std::uint32_t static_shared_bytes = 0;  ///< entries: bytes that count towards the device's limit
  std::uint32_t parameter_bytes = 0;
  std::vector<ParameterSlot> parameters, returns;
  std::array<std::uint32_t, 3> max_threads{}, required_threads{};
  std::array<std::uint32_t, 3> required_cluster{};  ///< in blocks; 0: none
  std::uint32_t max_cluster = 0;                    ///< in blocks; 0: no limit
  bool needs_cluster = false;                       ///< the launch must name one
  bool has_sites = false;                           ///< find_joins(): lanes can avoid a barrier
};

class DeviceHeap;
struct BarrierSites;
struct Trail;

/// A decoded module: its functions, and the storage of its global variables.
struct Program {
  std::vector<std::string> files;
  std::vector<std::unique_ptr<Function>> functions;
  struct Global {
    std::string name;
    Bytes storage;
    std::uint64_t bytes = 0;
    bool constant = false;
  };
  std::vector<Global> globals;
  std::shared_ptr<DeviceHeap> heap;  ///< null unless the code calls malloc
  std::uint32_t slots = 0;           ///< number of memory instructions
  std::once_flag joins_found;        ///< find_joins() has run
  std::unique_ptr<const BarrierSites> sites;
};

/// Registers and local variables of one call, for the lanes that are in it.
struct Frame {
  const Function* function = nullptr;
  Bytes registers;
  Frame* caller = nullptr;
  const Instr* return_ip = nullptr;
  const Instr* call = nullptr;
  std::uint32_t lanes = 0;
  std::uint32_t local_base = 0;
  std::uint32_t local_end = 0;  ///< begin of a callee's locals, after variables and alloca
  unsigned depth = 0;
};

enum class Wait : std::uint8_t {
  kReady,
  kConverge,     ///< before an instruction that needs more lanes; repeated when they come
  kWarpBarrier,  ///< after bar.warp.sync
  kBarrier,      ///< after a barrier of the block
  kMbarrier,     ///< after an unfulfilled mbarrier wait; resumed by a phase or a time-out
  kCluster,      ///< after the barrier of the cluster
};

/// Lanes of a warp that are at one instruction. A converged warp is one fragment.
struct Fragment {
  std::uint32_t mask = 0;
  const Instr* ip = nullptr;
  Frame* frame = nullptr;
  Wait wait = Wait::kReady;
  std::uint8_t barrier = 0;
  std::uint32_t warp_barrier_mask = 0;
  std::uint64_t turn = 0;  ///< the lowest runs first; raised when a fragment yields
};

/// A pending cp.async of a warp.
struct LateCopy {
  std::uint32_t mask = 0;  ///< lanes whose copy is still pending
  std::uint32_t bytes = 0;
  std::array<std::uint32_t, kLanes> to{};       ///< offsets in the block's shared memory
  std::array<std::uint32_t, kLanes> group{};    ///< copy group, by lane
  std::array<const std::byte*, kLanes> from{};  ///< null if nothing is read
  std::array<std::uint8_t, kLanes> read{};      ///< bytes read; the rest becomes zeros
};

/// The pending copies of a warp. It is a ring, so that it allocates only while it grows.
struct LateCopies {
  std::vector<LateCopy> ring;                 ///< size: 0 or a power of two
  std::uint64_t begin = 0, end = 0;           ///< numbers of the pending copies
  std::array<std::uint32_t, kLanes> group{};  ///< group of each lane's next copy
};

struct Block;

/// A pending bulk copy of one thread.
struct BulkCopy {
  Block* block = nullptr;  ///< owner of the shared memory written; null: global memory
  std::byte* to = nullptr;
  const std::byte* from = nullptr;  ///< null: copies `value`
  std::uint64_t bytes = 0;
  std::array<std::byte, 16> value{};
  /// Null: plain copy. Else combines `bytes` bytes at `from` into `to`.
  void (*reduce)(std::byte* to, const std::byte* from, std::uint64_t bytes) = nullptr;
};

/// A pending bulk copy of a thread's bulk group.
struct GroupedCopy {
  unsigned lane = 0;
  std::uint32_t group = 0;
  BulkCopy copy;
};

/// Bulk groups of the threads of a warp.
struct BulkGroups {
  std::vector<GroupedCopy> copies;
  std::array<std::uint32_t, kLanes> group{};  ///< group of each lane's next copy
};

struct Warp {
  Block* block = nullptr;
  unsigned index = 0;
  std::uint32_t live = 0;
  std::vector<Fragment> fragments;
  std::vector<std::unique_ptr<Frame>> frames;
  Bytes local;
  std::unique_ptr<Written> local_written;  ///< null: not checked
  std::uint32_t local_stride = 0;
  std::uint64_t turns = 0;
  unsigned parted = 0;  ///< how often it yielded after a load
  LateCopies late;
  BulkGroups bulk;
  std::uint32_t cluster_arrived = 0;  ///< lanes that arrived at the cluster's barrier in this phase
  std::uint32_t cluster_owing = 0;    ///< lanes that arrived there and have not yet waited
  std::vector<Reported> reported;     ///< lanes of this warp that findings have counted
  std::unique_ptr<Trail> trail;       ///< null: not recorded
  const std::array<std::uint32_t, kLanes>* tid = nullptr;  ///< three arrays in Grid::tids
};

/// A named barrier of a block.
struct Barrier {
  std::uint32_t expected = 0;          ///< threads; 0: all live threads
  std::vector<std::uint32_t> arrived;  ///< arrived lanes, by warp
  std::vector<const Instr*> places;    ///< by warp: the instruction where lanes arrived first
  bool pending = false;
  std::uint32_t population = 0;  ///< barrier.red: threads whose predicate is true
  std::uint32_t voters = 0;
};

struct Grid;
class Races;

struct Cluster;

struct Block {
  Grid* grid = nullptr;
  Cluster* cluster = nullptr;
  std::uint32_t rank = 0;  ///< in the cluster
  std::array<std::uint32_t, 3> index{};
  std::vector<Warp> warps;
  Bytes shared;
  std::unique_ptr<Written> shared_written;        ///< null: not checked
  std::unique_ptr<BlockObservation> observation;  ///< of the race checks
  bool faulted = false;                           ///< a thread of the block has ended by a fault
  std::uint32_t live_threads = 0;
  std::array<Barrier, 16> barriers{};
  const Instr* overtaken = nullptr;  ///< first barrier that a warp went around to another barrier
};

/// A pending arrival at an mbarrier. It is performed when a thread tests that mbarrier and would
/// have to wait.
struct LateArrival {
  std::byte* barrier = nullptr;
  Warp* warp = nullptr;      ///< cp.async.mbarrier.arrive: the copying warp
  std::uint32_t mask = 0;    ///< its lanes; 0: a bulk copy
  std::uint64_t before = 0;  ///< covers the copies with lower numbers
  BulkCopy copy;
};

/// Blocks that run together and access each other's shared memory; one block without clusters. One
/// host thread at a time runs all of them.
struct Cluster {
  std::array<std::uint32_t, 3> index{};
  std::vector<std::unique_ptr<Block>> blocks;  ///< by rank
  std::vector<LateArrival> arrivals;
  std::uint32_t arrived = 0;    ///< threads that arrived at the cluster's barrier
  std::uint32_t time_outs = 0;  ///< mbarrier time-outs since the last progress
};

/// One launch: the state that its blocks have in common.
struct Grid {
  const Program* program = nullptr;
  const Function* kernel = nullptr;
  const Launch* launch = nullptr;
  const Options* options = nullptr;
  MemoryMap memory;
  Bytes parameters;
  std::vector<std::array<std::array<std::uint32_t, kLanes>, 3>> tids;  ///< by warp of a block
  alignas(64) std::array<std::uint32_t, 16> workspace{};               ///< of cooperative_groups
  std::uint32_t shared_bytes = 0;
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  ///< extents of a cluster, in blocks
  bool explicit_cluster = false;                  ///< set by the launch or the kernel
  std::atomic<bool> stop{false};
  std::atomic<bool> faulted{false};  ///< other threads continue for a while, to count their faults
  bool watched = false;              ///< reads of undefined memory are checked
  bool tracked = false;              ///< each warp has a Trail
  bool backwards = false;            ///< a block's last warp runs first
  bool parts = false;                ///< blocks yield between a load and what follows it
  std::mutex mutex;                  ///< guards the members below, and print
  std::atomic<bool> read_clock{false};
  std::atomic<std::uint64_t> spent{0};  ///< warp instructions, if there is a budget
  std::optional<Fault> fault;
  Races* races = nullptr;  ///< null: not checked
  FaultDetails fault_details;
  Findings findings;
};

/// State of a host thread while it runs a fragment; instructions change it.
struct Context {
  std::array<std::byte*, 2> base{};  ///< registers, constants
  const Instr* ip = nullptr;
  const Instr* merge_ip = nullptr;  ///< nearest other fragment; null ends the fragment's turn
  std::uint32_t mask = 0;
  bool full = false;
  bool polled = false;  ///< the code read memory that another thread may change
  Wait wait = Wait::kReady;
  std::uint8_t barrier = 0;
  std::uint32_t warp_barrier_mask = 0;
  unsigned spins = 0;
  bool parts = false;  ///< the warp and its block yield
  Frame* frame = nullptr;
  Warp* warp = nullptr;
  Block* block = nullptr;
  Grid* grid = nullptr;
  Observer* observer = nullptr;        ///< null: no observer
  std::vector<const Extent*> extents;  ///< region used last, by slot
  std::uint64_t executed = 0;
  std::uint32_t faulted_lanes = 0;  ///< lanes that fault in this instruction and exit
  const Instr* faulted_ip = nullptr;
  std::uint64_t faulted_limit = 0;  ///< limit of `executed` after a fault; 0: no fault yet

  template <class T>
  T* target(std::uint32_t operand) const {
    return reinterpret_cast<T*>(base[0] + operand);
  }
  template <class T>
  const T* source(std::uint32_t operand) const {
    return reinterpret_cast<const T*>(base[operand >> 31] + (operand & ~kConstantBit));
  }
  std::uint32_t& predicate(std::uint32_t operand) const { return *target<std::uint32_t>(operand); }
  /// Writes the active lanes of a predicate; lane i is bit i of `lanes`.
  void set_predicate(std::uint32_t operand, std::uint32_t lanes) const {
    std::uint32_t& p = predicate(operand);
    p = (p & ~mask) | (lanes & mask);
  }
  std::uint32_t predicate_source(std::uint32_t operand) const {
    return *source<std::uint32_t>(operand);
  }
};

}  // namespace kbench::ptx
