// SPDX-License-Identifier: MIT
#include "ptx/machine/observer.hpp"

#include <utility>

namespace kbench::ptx {
namespace {

class Both final : public Observer {
 public:
  Both(std::unique_ptr<Observer> first, std::unique_ptr<Observer> second)
      : first_(std::move(first)), second_(std::move(second)) {}
  void instruction(Context& c, const Instr& in) override {
    first_->instruction(c, in);
    second_->instruction(c, in);
  }
  void undone(Context& c, const Instr& in) override {
    first_->undone(c, in);
    second_->undone(c, in);
  }
  void access(Context& c, const Instr& in, unsigned lane, Space space, std::uint64_t address,
              std::uint64_t bytes, Access kind) override {
    first_->access(c, in, lane, space, address, bytes, kind);
    second_->access(c, in, lane, space, address, bytes, kind);
  }
  void arrives(Context& c, unsigned id) override {
    first_->arrives(c, id);
    second_->arrives(c, id);
  }
  void completes(Context& c, unsigned id) override {
    first_->completes(c, id);
    second_->completes(c, id);
  }

 private:
  std::unique_ptr<Observer> first_, second_;
};

}  // namespace

std::unique_ptr<Observer> both(std::unique_ptr<Observer> first, std::unique_ptr<Observer> second) {
  if (first == nullptr) return second;
  if (second == nullptr) return first;
  return std::make_unique<Both>(std::move(first), std::move(second));
}

}  // namespace kbench::ptx
