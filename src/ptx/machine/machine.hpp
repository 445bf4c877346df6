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

/// The machine that runs decoded PTX: code, frames, warps, blocks, the grid.
namespace kbench::ptx {

constexpr unsigned kLanes = 32;
constexpr std::uint32_t kAllLanes = 0xffffffffU;

struct Context;
struct Instr;
using Execute = void (*)(Context&, const Instr&);

/// Operands with this bit lie in the function's constants, the others in the frame's registers.
constexpr std::uint32_t kConstantBit = 0x80000000U;
constexpr std::uint32_t kNone = 0xffffffffU;

/// One decoded instruction. Operands are byte offsets of 32-lane vectors (predicates: one mask).
/// What most instructions need is in the first cache line.
struct alignas(64) Instr {
  Execute full = nullptr;    ///< when all live lanes of the warp execute it
  Execute masked = nullptr;  ///< when only some do
  std::uint32_t d = kNone;
  std::array<std::uint32_t, 4> s{kNone, kNone, kNone, kNone};
  std::uint32_t extra = kNone;          ///< second destination; ld and st: the record of a Shape
  std::int64_t imm = 0;                 ///< displacement, shuffle of bits, size
  const std::uint32_t* list = nullptr;  ///< further operands
  std::uint16_t flags = 0;              ///< meaning by instruction
  std::uint8_t aux = 0;                 ///< meaning by instruction
  bool guard_negated = false;
  std::uint32_t slot = 0;  ///< memory instructions: where the last region is remembered
  std::uint32_t guard = kNone;
  const Instr* target = nullptr;
  const void* object = nullptr;                        ///< function called, table of targets
  Execute body_full = nullptr, body_masked = nullptr;  ///< behind a guard or behind `clears`
  /// Records of Shapes whose registers this one writes, with kNone at the end.
  const std::uint32_t* clears = nullptr;
};

/// Bytes aligned to a cache line, not set. Blocks come and go by the thousand: each host thread
/// keeps what it frees, up to a bound, for the next one of that size.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::size_t size)
      : data_(size == 0 ? nullptr : allocate(size), Delete{size}), size_(size) {}
  /// Zeros, which take memory only where they are touched.
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
    void* block = nullptr;  ///< of zeros()
  };
  std::unique_ptr<std::byte, Delete> data_;
  std::size_t size_ = 0;
};

/// A parameter or result: where it lies in the parameter buffer (kernels) or the frame (functions).
struct ParameterSlot {
  std::uint32_t offset = 0, bytes = 0;
  bool in_register = false;  ///< of a function: the offset is that of a register
};

struct Function {
  std::string name;
  bool entry = false;
  std::vector<Instr> code;
  std::vector<Position> positions;  ///< of each instruction
  std::vector<std::string> texts;   ///< of each instruction
  std::vector<std::unique_ptr<std::uint32_t[]>> lists;
  std::vector<std::unique_ptr<std::vector<const Instr*>>> tables;  ///< of brx.idx
  Bytes constants;
  std::uint32_t register_bytes = 0;  ///< of one frame, with the records
  std::uint32_t shapes_offset = 0;   ///< where the records of Shapes begin, at the registers' end
  std::uint32_t local_bytes = 0;     ///< of one call, variables, parameters and results
  std::uint32_t local_stack = 0;     ///< with everything that it calls
  std::uint32_t shared_bytes = 0;    ///< entries: where dynamic shared memory begins
  std::uint32_t static_shared_bytes = 0;  ///< entries: what counts towards the device's limit
  std::uint32_t parameter_bytes = 0;
  std::vector<ParameterSlot> parameters, returns;
  std::array<std::uint32_t, 3> max_threads{}, required_threads{};
  std::array<std::uint32_t, 3> required_cluster{};  ///< in blocks; 0: none
  std::uint32_t max_cluster = 0;                    ///< blocks; 0: not bounded
  bool needs_cluster = false;                       ///< the launch has to name one
};

class DeviceHeap;

/// A module decoded: functions, and the storage of its global variables.
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
  std::shared_ptr<DeviceHeap> heap;  ///< where the code calls malloc
  std::uint32_t slots = 0;           ///< memory instructions
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
  std::uint32_t local_end = 0;  ///< where a callee's begins: behind variables and alloca
  unsigned depth = 0;
};

enum class Wait : std::uint8_t {
  kReady,
  kConverge,     ///< at an instruction that needs more lanes; executed again when they come
  kWarpBarrier,  ///< behind bar.warp.sync
  kBarrier,      ///< behind a barrier of the block
  kMbarrier,     ///< behind a wait that an mbarrier did not fulfil; goes on in any case, later
  kCluster,      ///< behind the barrier of the cluster
};

/// Lanes of a warp that are at one place. A warp that has not diverged is one fragment.
struct Fragment {
  std::uint32_t mask = 0;
  const Instr* ip = nullptr;
  Frame* frame = nullptr;
  Wait wait = Wait::kReady;
  std::uint8_t barrier = 0;
  std::uint32_t warp_barrier_mask = 0;
  std::uint64_t turn = 0;  ///< the lowest runs first; raised when a fragment only spins
};

/// One cp.async of a warp that is not performed yet.
struct LateCopy {
  std::uint32_t mask = 0;  ///< lanes whose copy is still to come
  std::uint32_t bytes = 0;
  std::array<std::uint32_t, kLanes> to{};       ///< offsets in the block's shared memory
  std::array<std::uint32_t, kLanes> group{};    ///< by number, of each lane
  std::array<const std::byte*, kLanes> from{};  ///< null where nothing is read
  std::array<std::uint8_t, kLanes> read{};      ///< bytes that are read, the others become zeros
};

/// The late copies of a warp: a ring, so that nothing is allocated once it is large enough.
struct LateCopies {
  std::vector<LateCopy> ring;                 ///< none, or a power of two
  std::uint64_t begin = 0, end = 0;           ///< numbers of the copies that are there
  std::array<std::uint32_t, kLanes> group{};  ///< that a lane's next copy belongs to
};

struct Block;

/// A bulk copy that is not performed yet, of one thread.
struct BulkCopy {
  Block* block = nullptr;  ///< whose shared memory is written; null: global memory
  std::byte* to = nullptr;
  const std::byte* from = nullptr;  ///< null: `value`
  std::uint64_t bytes = 0;
  std::array<std::byte, 16> value{};
  /// Null: copies. Else combines `bytes` at `from` into `to`.
  void (*reduce)(std::byte* to, const std::byte* from, std::uint64_t bytes) = nullptr;
};

/// A bulk copy that a bulk group of a thread holds.
struct GroupedCopy {
  unsigned lane = 0;
  std::uint32_t group = 0;
  BulkCopy copy;
};

/// The bulk groups of the threads of a warp.
struct BulkGroups {
  std::vector<GroupedCopy> copies;
  std::array<std::uint32_t, kLanes> group{};  ///< that a lane's next copy belongs to
};

struct Warp {
  Block* block = nullptr;
  unsigned index = 0;
  std::uint32_t live = 0;
  std::vector<Fragment> fragments;
  std::vector<std::unique_ptr<Frame>> frames;
  Bytes local;
  std::unique_ptr<Written> local_written;  ///< null: nobody asks
  std::uint32_t local_stride = 0;
  std::uint64_t turns = 0;
  unsigned parted = 0;  ///< how often it gave way behind a load
  LateCopies late;
  BulkGroups bulk;
  std::uint32_t cluster_arrived = 0;  ///< lanes that are at the cluster's barrier in this phase
  std::uint32_t cluster_owing = 0;    ///< lanes that have arrived there and not waited yet
  std::vector<Reported> reported;     ///< what findings have counted of this warp
  const std::array<std::uint32_t, kLanes>* tid = nullptr;  ///< three, in Grid::tids
};

/// A named barrier of a block.
struct Barrier {
  std::uint32_t expected = 0;          ///< threads; 0: all that live
  std::vector<std::uint32_t> arrived;  ///< lanes, by warp
  std::vector<const Instr*> places;    ///< where those of a warp arrived first
  bool pending = false;
  std::uint32_t population = 0;  ///< barrier.red: threads whose predicate holds
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
  std::unique_ptr<Written> shared_written;        ///< null: nobody asks
  std::unique_ptr<BlockObservation> observation;  ///< of race checks
  bool faulted = false;                           ///< a thread of it has left by a fault
  std::uint32_t live_threads = 0;
  std::array<Barrier, 16> barriers{};
};

/// What will arrive at an mbarrier: when somebody looks at it and would have to wait.
struct LateArrival {
  std::byte* barrier = nullptr;
  Warp* warp = nullptr;      ///< cp.async.mbarrier.arrive: whose copies, and of which lanes
  std::uint32_t mask = 0;    ///< zero: a bulk copy
  std::uint64_t before = 0;  ///< the copies of lower numbers
  BulkCopy copy;
};

/// Blocks that run together and see each other's shared memory; without clusters just one. One host
/// thread at a time runs them all.
struct Cluster {
  std::array<std::uint32_t, 3> index{};
  std::vector<std::unique_ptr<Block>> blocks;  ///< by rank
  std::vector<LateArrival> arrivals;
  std::uint32_t arrived = 0;    ///< threads at the cluster's barrier
  std::uint32_t time_outs = 0;  ///< fruitless ones of waits on mbarriers, since anything happened
};

/// One launch: what all its blocks share.
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
  bool explicit_cluster = false;                  ///< the launch or the kernel names them
  std::atomic<bool> stop{false};
  std::atomic<bool> faulted{false};  ///< other threads may go on for a while, to be counted
  bool watched = false;              ///< reads of undefined memory are looked for
  bool backwards = false;            ///< a block's last warp has the first turn
  bool parts = false;                ///< blocks give way between a load and what follows it
  std::mutex mutex;                  ///< guards what follows, and print
  std::atomic<bool> read_clock{false};
  std::atomic<std::uint64_t> spent{0};  ///< warp instructions, where there is a budget
  std::optional<Fault> fault;
  Races* races = nullptr;  ///< null: not looked for
  FaultDetails fault_details;
  Findings findings;
};

/// What a host thread holds while it runs a fragment: the state that instructions change.
struct Context {
  std::array<std::byte*, 2> base{};  ///< registers, constants
  const Instr* ip = nullptr;
  const Instr* merge_ip = nullptr;  ///< where another fragment waits; null ends the fragment's turn
  std::uint32_t mask = 0;
  bool full = false;
  bool polled = false;  ///< the code looked at memory that another thread may change
  Wait wait = Wait::kReady;
  std::uint8_t barrier = 0;
  std::uint32_t warp_barrier_mask = 0;
  unsigned spins = 0;
  bool parts = false;  ///< the warp gives way, and its block
  Frame* frame = nullptr;
  Warp* warp = nullptr;
  Block* block = nullptr;
  Grid* grid = nullptr;
  Observer* observer = nullptr;        ///< null: nobody looks on
  std::vector<const Extent*> extents;  ///< last one used, by slot
  std::uint64_t executed = 0;
  std::uint32_t faulted_lanes = 0;  ///< of this instruction: they leave the kernel
  const Instr* faulted_ip = nullptr;
  std::uint64_t faulted_limit = 0;  ///< of `executed`, after a fault; 0: none yet

  template <class T>
  T* target(std::uint32_t operand) const {
    return reinterpret_cast<T*>(base[0] + operand);
  }
  template <class T>
  const T* source(std::uint32_t operand) const {
    return reinterpret_cast<const T*>(base[operand >> 31] + (operand & ~kConstantBit));
  }
  std::uint32_t& predicate(std::uint32_t operand) const { return *target<std::uint32_t>(operand); }
  std::uint32_t predicate_source(std::uint32_t operand) const {
    return *source<std::uint32_t>(operand);
  }
};

}  // namespace kbench::ptx
