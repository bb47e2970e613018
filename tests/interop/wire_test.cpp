#include "weft/interop/wire.h"

#include <doctest/doctest.h>

#include <vector>

using namespace weft;

TEST_CASE("numbers are varints, seven bits a byte from the low end, and zero is left out") {
  Message message;
  message.number(1, 150);
  message.number(2, 0);
  message.number(16, 1);
  CHECK(message.bytes() == std::string("\x08\x96\x01\x80\x01\x01", 6));
}

TEST_CASE("a negative number takes ten bytes") {
  Message message;
  message.number(1, -1);
  CHECK(message.bytes() == "\x08" + std::string(9, '\xff') + "\x01");
}

TEST_CASE("text and messages carry their length, empty ones too") {
  Message inner, outer;
  inner.text(2, "testing");
  outer.message(3, inner);
  outer.message(4, Message());
  CHECK(outer.bytes() == std::string("\x1a\x09\x12\x07testing\x22\x00", 13));
}

TEST_CASE("integers are packed") {
  Message message;
  message.numbers(4, std::vector<int64_t>{3, 270, 86942});
  message.numbers(5, std::vector<int64_t>{});
  CHECK(message.bytes() == std::string("\x22\x06\x03\x8e\x02\x9e\xa7\x05", 8));
}

TEST_CASE("appended fields stand as if written here") {
  Message fields, message, wanted;
  fields.number(2, 7);
  message.number(1, 5);
  message.append(fields);
  wanted.number(1, 5);
  wanted.number(2, 7);
  CHECK(message.bytes() == wanted.bytes());
}

TEST_CASE("borrowed text lands where it was written, levels up too") {
  std::string large = "large";
  Message inner, middle, outer, copied;
  inner.number(1, 1);
  inner.borrowed_text(2, large);
  inner.number(3, 3);
  middle.append(inner);
  outer.message(7, middle);
  outer.borrowed_text(8, large);
  copied.number(1, 1);
  copied.text(2, large);
  copied.number(3, 3);
  Message wanted;
  wanted.message(7, copied);
  wanted.text(8, large);
  CHECK(outer.size() == wanted.size());
  CHECK(outer.bytes() == wanted.bytes());
}
