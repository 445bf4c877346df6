// SPDX-License-Identifier: MIT
// What the driver makes of a candidate's requests, whatever their bytes are.
#include "run/build/compile_service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "compile/compile_fixture.hpp"
#include "os/installation.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;
using protocol::MessageType;
using protocol::ReceiveStatus;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::uint64_t kNonce = 7;

/// As module_extension.py sends it.
json honest() {
  return {{"kind", "inline"},
          {"name", "e"},
          {"cpp_sources", {"torch::Tensor f(torch::Tensor x);"}},
          {"cuda_sources", {"torch::Tensor f(torch::Tensor x) { return x; }"}},
          {"cpp_files", {""}},
          {"cuda_files", {""}},
          {"functions", {{"f", "f"}, {"g", nullptr}}},
          {"with_cuda", true},
          {"with_pytorch_error_handling", true},
          {"no_implicit_headers", false},
          {"extra_cflags", {"-O3"}},
          {"extra_cuda_cflags", json::array()},
          {"extra_ldflags", nullptr},
          {"extra_include_paths", {"/usr/include"}},
          {"is_python_module", true}};
}

json with(const char* field, json value) {
  json request = honest();
  request[field] = std::move(value);
  return request;
}

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

struct Row {
  std::string body, fault;
};

std::vector<Row> bad_requests() {
  const std::string many(1000, 'x');
  return {
      {nested(5'000'000), "it is nested too deeply"},
      {std::string(5'000'000, '['), "it is nested too deeply"},
      {"{\"kind\":" + nested(3) + "}", "it is nested too deeply"},
      {"[" + std::string(40'000, '1') + "]", "it is not valid JSON"},
      {json(std::vector<int>(30'000)).dump(), "it has too many values"},
      {with("cuda_sources", json(std::vector<std::string>(30'000))).dump(),
       "it has too many values"},
      {"", "it is not valid JSON"},
      {"\xff", "it is not valid JSON"},
      {"[]", "it is not an object"},
      {"3", "it is not an object"},
      {with("cuda_sources", 3).dump(), "cuda_sources must be a list of strings"},
      {with("cuda_sources", {1, 2}).dump(), "cuda_sources must be a list of strings"},
      {with("kind", json::array()).dump(), "kind must be a string"},
      {with("kind", many).dump(), "kind has more than 16 bytes"},
      {with("functions", {1}).dump(), "functions must be an object of strings"},
      {with("functions", {{"f", {1}}}).dump(), "it is nested too deeply"},
      {with("with_cuda", 1).dump(), "with_cuda must be true or false"},
      {with("extra_cflags", std::vector<std::string>(100, many)).dump(),
       "extra_cflags has more than 65536 bytes"},
      {with("name", std::string(5000, 'n')).dump(), "name has more than 4096 bytes"},
      {with("pickle", "x").dump(), "pickle is not a known field"},
  };
}

TEST(CompileRequests, HonestOnesAreReadAsTheyAre) {
  const auto read = read_compile_request(honest().dump());
  ASSERT_TRUE(std::holds_alternative<json>(read)) << std::get<std::string>(read);
  EXPECT_EQ(std::get<json>(read), honest());
  const json large = with("cuda_sources", {std::string(8u << 20, 'x')});
  EXPECT_TRUE(std::holds_alternative<json>(read_compile_request(large.dump())));
}

TEST(CompileRequests, OthersAreRefusedWithASentence) {
  for (const Row& row : bad_requests()) {
    const auto read = read_compile_request(row.body);
    ASSERT_TRUE(std::holds_alternative<std::string>(read)) << row.body.substr(0, 100);
    EXPECT_EQ(std::get<std::string>(read), row.fault) << row.body.substr(0, 100);
  }
}

TEST(DryImportEnds, AreClaimsWithinBounds) {
  const json end{{"stage", "init"},
                 {"cause", std::string(1000, 'c')},
                 {"message", std::string(100'000, 'm')},
                 {"outcome", "harness_fault"}};
  const auto reported = read_dry_import_end(end.dump());
  ASSERT_TRUE(reported);
  EXPECT_EQ(reported->stage, "init");
  EXPECT_EQ(reported->outcome, Outcome::kCrash) << "a candidate cannot report a fault of kbench";
  EXPECT_EQ(reported->cause.size(), sizeof(protocol::FailedBody::cause) - 1);
  EXPECT_EQ(reported->message.size(), sizeof(protocol::FailedBody::message) - 1);
  for (const auto& body : {nested(5'000'000), std::string("{}"), std::string(R"({"stage": 3})"),
                           std::string(), nested(1)})
    EXPECT_FALSE(read_dry_import_end(body)) << body.substr(0, 100);
}

/// One candidate's end of a service that builds nothing in these cases.
class Services : public CompileTest {
 protected:
  Services()
      : pool_(setup()),
        builder_(pool_, host_setup(find_installation()), NvccSetup{}, "compute_90a") {}

  void serve(bool answers) {
    auto [ours, theirs] = socket_pair();
    candidate_ = protocol::Channel(std::move(theirs), kNonce, protocol::kMaxBody);
    service_ = std::make_unique<CompileService>(builder_, ExtensionOwner{"k.py", ""},
                                                std::move(ours), kNonce, answers);
  }

  json answer() {
    protocol::Message message;
    const auto status = candidate_.receive(message, protocol::Clock::now() + seconds(20));
    EXPECT_EQ(status, ReceiveStatus::kOk);
    EXPECT_EQ(message.type, MessageType::kCompiled);
    return status == ReceiveStatus::kOk ? json::parse(message.body) : json::object();
  }

  CompilePool pool_;
  ExtensionBuilder builder_;
  protocol::Channel candidate_;
  std::unique_ptr<CompileService> service_;
};

TEST_F(Services, ABadRequestIsAnsweredAndIsTheCandidatesFailure) {
  serve(true);
  for (const Row& row : bad_requests()) {
    ASSERT_TRUE(candidate_.send(MessageType::kCompile, row.body));
    const json body = answer();
    EXPECT_FALSE(body.value("built", true));
    EXPECT_EQ(body.value("cause", ""), "bad_request");
    EXPECT_THAT(body.value("message", ""), HasSubstr(row.fault));
  }
  EXPECT_EQ(service_->fault(), nullptr);
}

TEST_F(Services, ADryImportsBadRequestIsInItsSummary) {
  serve(false);
  candidate_.send(MessageType::kCompile, nested(5'000'000));
  candidate_.send(MessageType::kDryImported, nested(5'000'000));
  EXPECT_TRUE(service_->wait_dry_imported(seconds(20), -1));
  const BuildSummary summary = service_->summary();
  EXPECT_EQ(summary.builds, 1u);
  ASSERT_TRUE(summary.failure);
  EXPECT_EQ(summary.failure->outcome, Outcome::kCompileFailure);
  EXPECT_EQ(summary.failure->cause, "bad_request");
  EXPECT_FALSE(service_->dry_import_end());
  EXPECT_EQ(service_->fault(), nullptr);
}

TEST_F(Services, OneProcessAsksForSoManyBytesAndNoMore) {
  serve(true);
  const std::string body = with("pickle", std::string(15u << 20, 'x')).dump();
  int answered = 0;
  protocol::Message message;
  while (answered < 10 && candidate_.send(MessageType::kCompile, body) &&
         candidate_.receive(message, protocol::Clock::now() + seconds(20)) == ReceiveStatus::kOk)
    ++answered;
  EXPECT_EQ(answered, 4);
  EXPECT_EQ(service_->fault(), nullptr);
}

}  // namespace
}  // namespace kbench::run
