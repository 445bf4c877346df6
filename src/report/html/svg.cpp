// SPDX-License-Identifier: MIT
// The charts as SVG files. A headless browser opens the page. The page's script draws the charts
// and replaces the page by the charts' files, and the browser prints that. So all charts are drawn
// by the same script.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/scratch_folder.hpp"
#include "kbench/error.hpp"
#include "os/find_program.hpp"
#include "os/subprocess.hpp"
#include "report/format/formats.hpp"
#include "report/format/report_files.hpp"
#include "report/html/page_parts.hpp"

namespace kbench::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::chrono::minutes kLimit{2};
constexpr std::size_t kMostBytes = 1u << 29;
constexpr std::string_view kBegin = R"(<script type="application/json" id="files">)";
constexpr std::string_view kEnd = "</script>";

std::optional<fs::path> find_chromium() {
  if (const std::string named = environment_variable("KBENCH_CHROMIUM"); !named.empty())
    return find_program(named);
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
    if (auto found = find_program(name)) return found;
  return std::nullopt;
}

/// Name → text of each file that the page prints.
json printed(const fs::path& page, const fs::path& profile) {
  const SpawnOptions options{
      // No browser sandbox, because most containers forbid it. The page runs only kbench's code.
      .command = {find_chromium().value().string(), "--headless", "--no-sandbox", "--disable-gpu",
                  "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                  "--disable-background-networking", "--user-data-dir=" + profile.string(),
                  // At this width the page has one column of charts.
                  "--window-size=800,1000", "--dump-dom", page.string()},
      .env = {},
      .fds = {}};
  const CommandResult result = run_command(options, kLimit, {}, kMostBytes);
  const std::string_view all = result.output,
                         from = all.substr(std::min(all.find(kBegin), all.size()));
  json files = json::parse(
      from.substr(0, from.find(kEnd)).substr(std::min(kBegin.size(), from.size())), nullptr, false);
  if (files.is_object()) return files;
  throw Error(fmt::format(
      "{} {} and drew no charts: open the report's page (--format html) in a browser and save "
      "each chart there; its output: {}",
      options.command.front(),
      result.timed_out ? fmt::format("did not end in {} minutes", kLimit.count()) : "ended",
      result.error.substr(0, 400)));
}

}  // namespace

void check_svg(const fs::path& folder) {
  if (folder.empty())
    throw UsageError("the charts are several files: name a folder, as in svg=charts");
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    throw UsageError(fmt::format("svg={}: that is not a folder", folder.string()));
  if (page_d3().empty())
    throw UsageError("svg: this kbench was built without D3: install node-d3 and build it again");
  if (!find_chromium())
    throw UsageError(
        "svg: Chromium draws the charts, and none was found: install chromium, or name one in "
        "KBENCH_CHROMIUM");
}

void write_svg(const Report& report, const fs::path& folder) {
  const ScratchFolder scratch;
  const fs::path page = scratch.path() / "page.html";
  write_file(page, false, [&](std::ostream& out) {
    write_html(report, out);
    out << "<script>kbench.showFiles();</script>\n";
  });
  const json files = printed(page, scratch.path() / "profile");
  std::error_code ignored;
  fs::create_directory(folder, ignored);
  for (const auto& file : files.items())
    write_file(folder / fs::path(file.key()).filename(), false,
               [&](std::ostream& out) { out << file.value().get<std::string>(); });
}

}  // namespace kbench::report
