// Spans: threads record while others begin, end and read recordings; memory is bounded; text is legal JSON.
#include "weft/core/span.h"

#include <doctest/doctest.h>

#include <stop_token>
#include <thread>
#include <vector>

namespace weft {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("nothing is kept while nobody records") {
  {
    Span span("test", "before");
  }
  int64_t since = start_recording();
  {
    Span span("test", "within");
  }
  std::string text = stop_recording(since);
  {
    Span span("test", "after");
  }
  since = start_recording();
  text += stop_recording(since);
  CHECK(count(text, "\"within\"") == 1);
  CHECK(count(text, "\"before\"") == 0);
  CHECK(count(text, "\"after\"") == 0);
}

TEST_CASE("a span that began before a recording is not in it") {
  int64_t outer = start_recording();
  int64_t inner = 0;
  {
    Span span("test", "across");
    inner = start_recording();
  }
  CHECK(count(stop_recording(inner), "\"across\"") == 0);
  CHECK(count(stop_recording(outer), "\"across\"") == 1);
}

TEST_CASE("threads record while recordings begin, end and are read") {
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (!ends) {
        Span span("test", "work");
        span.add("value", "1");
      }
    });
  for (int round = 0; round < 200; ++round) {
    int64_t since = start_recording();
    CHECK(stop_recording(since).ends_with("}}\n"));
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("a recording has what its thread did, whoever begins and ends others meanwhile") {
  int lost = 0;
  std::jthread others([](const std::stop_token& ends) {
    while (!ends.stop_requested()) stop_recording(start_recording());
  });
  for (int round = 0; round < 20000; ++round) {
    int64_t since = start_recording();
    {
      Span span("test", "own");
    }
    lost += count(stop_recording(since), "\"own\"") == 0;
  }
  CHECK(lost == 0);
}

TEST_CASE("memory is bounded, what is dropped is counted, and the next recording has room again") {
  int64_t since = start_recording();
  SpanLabel label = span_label("one", "test");
  for (int i = 0; i < 4096 * 512 + 10; ++i) record_span(label, 0, 1);
  std::string text = stop_recording(since);
  CHECK(count(text, "\"dropped\": 0") == 0);
  CHECK(count(text, "were dropped") == 1);
  since = start_recording();
  {
    Span span("test", "room");
  }
  text = stop_recording(since);
  CHECK(count(text, "\"room\"") == 1);
  CHECK(count(text, "\"dropped\": 0") == 1);
}

TEST_CASE("text becomes JSON whatever its bytes are") {
  CHECK(json_quoted("a\"b\\c\n\x01") == R"("a\"b\\c\n\u0001")");
  CHECK(json_quoted("\xc3\xa9\xff\xe2\x82") == "\"\xc3\xa9???\"");
  CHECK(json_quoted("\xed\xa0\x80\xe0\x80\xaf\xf4\x90\x80\x80\xf0\x80\x80\xaf") == "\"??????????????\"");
  CHECK(json_quoted("\xed\x9f\xbf\xe0\xa0\x80\xf4\x8f\xbf\xbf\xf0\x90\x80\x80") ==
        "\"\xed\x9f\xbf\xe0\xa0\x80\xf4\x8f\xbf\xbf\xf0\x90\x80\x80\"");
}

}  // namespace weft
