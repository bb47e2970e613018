// Rows of memory that the next turn of a loop reads.
#include "weft/codegen/llvm/fetch.h"

#include <map>

namespace weft {
namespace {

// Asks for rows of memory, line by line. Behind the last turn there may be less than none.
constexpr std::string_view fetch_text =
    R"(define internal void @weft.fetch(ptr %from, i64 %rows, i64 %stride, i64 %bytes) noinline optsize {
entry:
  br label %row
row:
  %r = phi i64 [ 0, %entry ], [ %r.next, %row.end ]
  %p = phi ptr [ %from, %entry ], [ %p.next, %row.end ]
  br label %line
line:
  %b = phi i64 [ 0, %row ], [ %b.next, %line ]
  %at = getelementptr i8, ptr %p, i64 %b
  call void @llvm.prefetch.p0(ptr %at, i32 0, i32 3, i32 1)
  %b.next = add i64 %b, 64
  %b.more = icmp slt i64 %b.next, %bytes
  br i1 %b.more, label %line, label %row.end
row.end:
  %p.next = getelementptr i8, ptr %p, i64 %stride
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %rows
  br i1 %r.more, label %row, label %done
done:
  ret void
}

)";

// Bytes of a left operand that are still near when the next turn begins, at most.
constexpr int64_t most_fetched = 1 << 16;

}  // namespace

std::optional<NextRows> rows_of_next_turn(const Kernel& kernel, const Launch& launch, const Launch& loop,
                                          int64_t size) {
  const Dot& dot = *kernel.dot;
  if (dot.pack_rhs || !dot.batch.empty() || !dot.lhs.inner.is(1) || dot.lhs.outer_part || dot.lhs.inner_part) return {};
  std::map<std::string, Dim, std::less<>> next, later;
  for (const Dim& value : launch.symbols)
    for (const Symbol& symbol : value.symbols())
      if (symbol.name == loop.counter) later.emplace(symbol.name, Dim(symbol) + Dim(loop.step));
  for (size_t i = 0; i < kernel.symbols.size(); ++i)
    next.emplace(kernel.symbols[i].name, launch.symbols[i].substitute(later));
  NextRows found;
  found.offset = dot.lhs.offset.substitute(next) * size;
  found.rows = dot.m.substitute(next);
  found.stride = dot.lhs.outer.substitute(next) * size;
  found.bytes = dot.k.substitute(next) * size;
  if (later.empty() || (found.rows * found.bytes).max() > most_fetched) return {};
  if (found.stride == found.bytes) {
    found.bytes = found.bytes * found.rows;
    found.rows = 1;
  }
  return found;
}

void declare_fetch(ModuleText& module) {
  module.functions.emplace("weft.fetch", fetch_text);
  module.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)");
}

}  // namespace weft
