// SPDX-License-Identifier: MIT
// Several tensors in one shared object.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "worker/candidate/buffer_messages.hpp"
#include "worker/device/device.hpp"

namespace kbench::worker {
namespace {

TEST(PackedLayouts, KeepNeighboursApartAndEndNearTheUnmappedPage) {
  std::mt19937 random(7);
  for (const std::size_t granularity : {std::size_t{4096}, std::size_t{2} << 20})
    for (const bool red : {false, true})
      for (const std::size_t count : {1u, 2u, 100u, 1000u}) {
        SCOPED_TRACE(testing::Message() << granularity << ", red " << red << ", " << count);
        std::vector<std::size_t> sizes(count);
        for (auto& size : sizes) size = random() % (random() % 4 == 0 ? 100000 : 600);
        const auto layouts = packed_layouts(sizes, granularity, red);
        ASSERT_EQ(layouts.size(), count);
        const std::size_t gap = red ? kRedZoneBytes : kDataAlignment;
        std::size_t end = 0;
        for (std::size_t i = 0; i < count; ++i) {
          const BufferLayout& layout = layouts[i];
          EXPECT_EQ(layout.data_bytes, sizes[i]);
          EXPECT_EQ(layout.mapped_bytes, layouts[0].mapped_bytes);
          EXPECT_EQ(layout.data_offset % kDataAlignment, 0u);
          EXPECT_GE(layout.data_offset, end + gap);
          EXPECT_GE(layout.red_before, gap);
          EXPECT_LE(end, layout.data_offset - layout.red_before);
          end = layout.data_offset + sizes[i];
          const std::size_t next = i + 1 < count ? layouts[i + 1].data_offset : layout.mapped_bytes;
          EXPECT_EQ(end + layout.red_after, next);
        }
        EXPECT_EQ(layouts[0].mapped_bytes % granularity, 0u);
        EXPECT_LT(layouts.back().red_after - (red ? gap : 0), kDataAlignment);
      }
}

class PackedMemory : public testing::Test {
 protected:
  PackedMemory() {
    const std::vector<std::size_t> sizes{1000, 20, 300};
    const auto layouts = packed_layouts(sizes, device_->granularity(), true);
    const SharedBuffer whole = device_->create(layouts.front(), true);
    for (const auto& layout : layouts) parts_.push_back(whole.part(layout));
    for (const auto& part : parts_) fill_red_zones(*device_, part);
  }
  std::unique_ptr<Device> device_ = open_device("cpu");
  std::vector<SharedBuffer> parts_;
};

TEST_F(PackedMemory, EachTensorHasRedZones) {
  for (const auto& part : parts_) {
    device_->fill(part.data(), 0x77, part.size_bytes());
    EXPECT_EQ(broken_red_zone(*device_, part), "");
  }
  for (const auto& part : parts_) EXPECT_EQ(broken_red_zone(*device_, part), "");
  parts_[1].data()[20] = std::byte{0};
  EXPECT_EQ(broken_red_zone(*device_, parts_[0]), "");
  EXPECT_EQ(broken_red_zone(*device_, parts_[1]), "past the end of");
  EXPECT_EQ(broken_red_zone(*device_, parts_[2]), "before the start of");
}

TEST_F(PackedMemory, IsMappedOnceAndStaysUntilTheLastTensorGoes) {
  const std::size_t mapped = parts_[0].layout().mapped_bytes;
  ReceivedMemory received(Fd(dup(parts_[0].fd())));
  std::vector<SharedBuffer> theirs;
  for (const auto& part : parts_) theirs.push_back(received.map(*device_, part.layout(), false));
  for (const auto& part : theirs) {
    EXPECT_EQ(part.base(), theirs[0].base());
    EXPECT_EQ(part.layout().mapped_bytes, mapped);
  }
  EXPECT_LT(theirs.back().fd(), 0) << "it needs no descriptor";
  const SharedBuffer writable = received.map(*device_, parts_[2].layout(), true);
  EXPECT_NE(writable.base(), theirs.back().base());
  EXPECT_EQ(writable.base(), received.map(*device_, parts_[0].layout(), true).base());
  const SharedBuffer last = std::move(theirs.back());
  theirs.clear();
  received = ReceivedMemory(Fd());
  parts_[2].data()[0] = std::byte{42};
  EXPECT_EQ(last.data()[0], std::byte{42});
}

TEST_F(PackedMemory, TravelsWithOneDescriptor) {
  BufferMessages messages;
  std::vector<SharedBuffer> apart;
  for (std::size_t i = 0; i < protocol::kMaxFds + 50; ++i) {
    apart.push_back(device_->create(buffer_layout(8, device_->granularity(), true), true));
    messages.add(0, 2 * i, apart.back(), protocol::BufferRole::kSource);
    messages.add(0, 2 * i + 1, parts_[i % 3], protocol::BufferRole::kWork);
  }
  ASSERT_EQ(messages.batches().size(), 2u);
  EXPECT_EQ(messages.batches()[0].fds.size(), protocol::kMaxFds);
  EXPECT_EQ(messages.batches()[1].fds.size(), 50u + 2u);
  std::size_t tensor = 0;
  for (const auto& batch : messages.batches())
    for (std::size_t at = 0; at < batch.body.size(); at += sizeof(protocol::BufferEntry)) {
      protocol::BufferEntry entry{};
      std::memcpy(&entry, batch.body.data() + at, sizeof entry);
      EXPECT_EQ(entry.tensor, tensor);
      const SharedBuffer& buffer = tensor % 2 == 0 ? apart[tensor / 2] : parts_[tensor / 2 % 3];
      EXPECT_EQ(batch.fds.at(entry.descriptor), buffer.fd());
      EXPECT_EQ(entry.data_offset, buffer.layout().data_offset);
      ++tensor;
    }
  EXPECT_EQ(tensor, 2 * apart.size());
}

}  // namespace
}  // namespace kbench::worker
