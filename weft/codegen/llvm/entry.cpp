// The entries of a program, which launch its kernels.
#include "weft/codegen/llvm/entry.h"

#include <map>
#include <span>

#include "weft/codegen/llvm/fetch.h"
#include "weft/codegen/llvm/launcher.h"
#include "weft/codegen/llvm/short_loops.h"
#include "weft/core/error.h"
#include "weft/kernel/cost.h"
#include "weft/support/services.h"

namespace weft {
namespace {

// An entry of more goes by launchers.
constexpr size_t few_launches = 8;
// One of more is in parts.
constexpr size_t most_in_part = 128;

Dim batch_of(const Dot& dot) {
  Dim batch = 1;
  for (const Dim& dim : dot.batch) batch = batch * dim;
  return batch;
}

class EntryWriter {
 public:
  EntryWriter(ModuleText& module, const Program& program, DotEmitter& dots,
              const std::map<const Launch*, size_t>& numbers)
      : module_(module), program_(program), dots_(dots), numbers_(numbers), empty_(), extents_(module, empty_) {
    for (const Launch& launch : program.setup) {
      auto packed = static_cast<size_t>(program.kernels[static_cast<size_t>(launch.kernel)].dot->packed);
      packing_.emplace(launch.buffers[packed], packing_.size());
    }
    for (const Kernel& kernel : program.kernels) packs_later_ |= kernel.dot && kernel.dot->raw;
  }

  // `packs`: launches of setup.
  void write(const std::string& name, std::span<const Launch> launches, bool packs = false, const char* linkage = "") {
    std::string body, room;
    entry_ = name;
    extents_.out = &body;
    has_many_ = launches.size() > few_launches;
    if (launches.size() > most_in_part && !packs) {
      write_parts(body, launches);
    } else {
      room = room_for(launches);
      load_context(body);
      for (size_t i = 0; i < launches.size(); ++i)
        packs ? write_packing(body, launches[i], i) : write_launch(body, launches[i]);
    }
    append(module_.out, "define ", linkage, "void @", name,
           "(ptr %symbols, ptr %buffers, ptr %services) noinline optnone #0 {\nentry:\n", room, body,
           "  ret void\n}\n\n");
  }

  // Each part is a function, which threads compile side by side.
  void write_parts(std::string& body, std::span<const Launch> launches) {
    for (size_t at = 0; at < launches.size(); at += most_in_part) {
      std::string part = cat(entry_, ".", at / most_in_part);
      EntryWriter(module_, program_, dots_, numbers_)
          .write(part, launches.subspan(at, std::min(most_in_part, launches.size() - at)), false, "internal ");
      append(body, "  call void @", part, "(ptr %symbols, ptr %buffers, ptr %services)\n");
    }
  }

  // A loop whose kernels are taken in as a function; its parameters: the counters of the loops around it.
  void write_short_turns(const std::string& name, const Launch& launch, const std::vector<std::string>& outer) {
    std::string body, parameters;
    entry_ = name;
    extents_.out = &body;
    takes_in_ = true;
    load_context(body);
    for (const std::string& counter : outer) {
      const std::string value = this->name("outer");
      append(parameters, ", i64 ", value);
      enter_loop(counter, value);
    }
    const LoopScalars scalars(program_, launch);
    copy_scalars(body, scalars, true);
    scalars_ = &scalars;
    write_turns_from(body, launch, "0", extents_.extent(launch.trips));
    scalars_ = nullptr;
    copy_scalars(body, scalars, false);
    append(module_.out, "define internal void @", name, "(ptr %symbols, ptr %buffers, ptr %services", parameters,
           ") noinline #0 {\nentry:\n", room_for({}), scalars.room, body, "  ret void\n}\n\n");
  }

  // The turns of an independent loop as a function; `outer`: the counters of the loops around it.
  void write_turns(const std::string& name, const Launch& launch, const std::vector<std::string>& outer) {
    std::string body;
    entry_ = name;
    extents_.out = &body;
    size_t at = 0;
    for (const char* pointer : {"symbols", "buffers", "services"})
      append(body, "  %", pointer, "_slot = getelementptr ptr, ptr %context, i64 ", at++, "\n  %", pointer,
             " = load ptr, ptr %", pointer, "_slot\n");
    load_context(body);
    for (const std::string& counter : outer) {
      std::string slot = this->name("outer"), value = this->name("outer");
      append(body, "  ", slot, " = getelementptr i64, ptr %context, i64 ", at++, "\n  ", value, " = load i64, ptr ",
             slot, "\n");
      enter_loop(counter, value);
    }
    turns_ = &launch;
    write_turns_from(body, launch, "%begin", "%end");
    append(module_.out, "define internal void @", name,
           "(ptr %context, i64 %begin, i64 %end, ptr %turn) noinline optnone #0 {\nentry:\n",
           room_for(launch.blocks[0].launches), body, "  ret void\n}\n\n");
  }

 private:
  void load_context(std::string& body) {
    for (size_t i = 0; i < program_.symbols.size(); ++i) {
      append(body, "  %symbol_slot", i, " = getelementptr i64, ptr %symbols, i64 ", i, "\n  %symbol", i,
             " = load i64, ptr %symbol_slot", i, "\n");
      extents_.bind(program_.symbols[i].name, cat("%symbol", i));
    }
    auto load = [&](const char* type, const char* member, size_t at) {
      append(body, "  %", member, "_slot = getelementptr i64, ptr %services, i64 ", at, "\n  %", member, " = load ",
             type, ", ptr %", member, "_slot\n");
    };
#define WEFT_LOAD(type, member) load(type, #member, WEFT_WORD(weft_services, member))
    WEFT_LOAD("ptr", parallel_for);
    WEFT_LOAD("ptr", pool);
    WEFT_LOAD("ptr", listen);
    body += "  %listens = icmp ne ptr %listen, null\n";
    if (packs_later_) {
      WEFT_LOAD("i64", packing_first);
      WEFT_LOAD("i64", packing_end);
    }
    if (!module_.other_ways.empty()) {
      WEFT_LOAD("ptr", begin_trial);
      WEFT_LOAD("ptr", end_trial);
    }
#undef WEFT_LOAD
  }

  // A launch of setup, where it is one of those that are to be done now.
  void write_packing(std::string& body, const Launch& launch, size_t number) {
    if (!packs_later_) return write_launch(body, launch);
    std::string is_new = name("new"), is_wanted = name("wanted"), is_both = name("both"), go = name("pack").substr(1),
                done = name("done").substr(1);
    append(body, "  ", is_new, " = icmp sge i64 ", number, ", %packing_first\n  ", is_wanted, " = icmp slt i64 ",
           number, ", %packing_end\n  ", is_both, " = and i1 ", is_new, ", ", is_wanted, "\n  br i1 ", is_both,
           ", label %", go, ", label %", done, "\n", go, ":\n");
    extents_.in_block([&] { write_launch(body, launch); });
    append(body, "  br label %", done, "\n", done, ":\n");
  }

  // Whether the launch's right operand is packed by now, as 0 or 1.
  std::string is_packed(std::string& body, const Launch& launch, const Dot& dot) {
    size_t number = packing_.at(launch.buffers[static_cast<size_t>(dot.rhs.memory)]);
    std::string is_done = name("packed"), word = name("packed");
    append(body, "  ", is_done, " = icmp slt i64 ", number, ", %packing_end\n  ", word, " = zext i1 ", is_done,
           " to i64\n");
    return word;
  }

  // Tells who listens, if anybody does, that the launch begins or ends.
  void tell(std::string& body, const Launch& launch, bool begins) {
    std::string tells = name("tell").substr(1), go = name("go").substr(1);
    append(body, "  br i1 %listens, label %", tells, ", label %", go, "\n", tells,
           ":\n  call void %listen(ptr %services, i64 ", numbers_.at(&launch), ", i64 ", begins ? 1 : 0,
           ")\n  br label %", go, "\n", go, ":\n");
  }

  static std::string room_for(std::span<const Launch> launches) {
    size_t most = 1;
    for (const Launch& launch : launches) most = std::max(most, arguments_of(launch));
    return cat("  %args = alloca [", most, " x i64], align 64\n  %turns = alloca i64\n  store i64 ", turns_per_look,
               ", ptr %turns\n");
  }

  // How many turns that do little pass between two looks whether the run is to end.
  static constexpr int64_t turns_per_look = 1024;

  // At the end of a turn. The turns of an independent loop are not left: that ends between two of them.
  void look(std::string& body, const Launch& launch) {
    if (turns_) return;
    std::string left = name("left"), fewer = name("fewer"), is_time = name("time"), is_there = name("there"),
                time = name("time").substr(1), looks = name("looks").substr(1), go = name("go").substr(1);
    append(body, "  ", left, " = load i64, ptr %turns\n  ", fewer, " = sub i64 ", left, ", ",
           may_take_long(program_, launch.blocks) ? turns_per_look : 1, "\n  store i64 ", fewer, ", ptr %turns\n  ",
           is_time, " = icmp slt i64 ", fewer, ", 0\n  br i1 ", is_time, ", label %", time, ", label %", go, "\n", time,
           ":\n  store i64 ", turns_per_look, ", ptr %turns\n");
    std::string function = service(body, WEFT_WORD(weft_services, look));
    append(body, "  ", is_there, " = icmp ne ptr ", function, ", null\n  br i1 ", is_there, ", label %", looks,
           ", label %", go, "\n", looks, ":\n  call void ", function, "(ptr %services)\n  br label %", go, "\n", go,
           ":\n");
  }

  void enter_loop(const std::string& counter, const std::string& value) {
    extents_.bind(counter, value);
    counters_.emplace_back(counter, value);
  }

  // What a loop has in memory of its own, before its turns or after them.
  void copy_scalars(std::string& body, const LoopScalars& scalars, bool is_before) {
    module_.declare("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)");
    for (int32_t buffer : scalars.carried) {
      const std::string outside = base_of(body, buffer), &own = scalars.names.at(buffer);
      append(body, "  call void @llvm.memcpy.p0.p0.i64(ptr ", is_before ? own : outside, ", ptr ",
             is_before ? outside : own, ", i64 ", size_of(program_.buffers[static_cast<size_t>(buffer)].type.dtype),
             ", i1 false)\n");
    }
  }

  std::string base_of(std::string& body, int32_t buffer) {
    if (scalars_)
      if (auto own = scalars_->names.find(buffer); own != scalars_->names.end()) return own->second;
    return base_of(body, program_.buffers[static_cast<size_t>(buffer)]);
  }

  // Inputs, outputs, constants, arena, persistent.
  std::string base_of(std::string& body, const BufferPlan& buffer) {
    size_t outputs = program_.inputs.size();
    size_t constants = outputs + program_.outputs.size();
    size_t arena = constants + program_.constants.size();
    auto slot = static_cast<size_t>(buffer.index);
    switch (buffer.place) {
      case Place::input:
        break;
      case Place::output:
        slot += outputs;
        break;
      case Place::constant:
        slot += constants;
        break;
      case Place::arena:
      case Place::persistent:
        slot = buffer.place == Place::arena ? arena : arena + 1;
        break;
      case Place::turn:
        return offset_from(body, "%turn", buffer.offset);
    }
    std::string place = name("slot"), base = name("base");
    append(body, "  ", place, " = getelementptr ptr, ptr %buffers, i64 ", slot, "\n  ", base, " = load ptr, ptr ",
           place, takes_in_ ? ", !invariant.load !0\n" : "\n");
    return offset_from(body, base, buffer.offset);
  }

  std::string offset_from(std::string& body, const std::string& base, const Dim& bytes) {
    if (bytes.is(0)) return base;
    std::string offset = extents_.extent(bytes), pointer = name("buffer");
    append(body, "  ", pointer, " = getelementptr i8, ptr ", base, ", i64 ", offset, "\n");
    return pointer;
  }

  void write_launch(std::string& body, const Launch& launch) {
    switch (launch.kind) {
      case LaunchKind::kernel:
        return write_kernel(body, launch);
      case LaunchKind::routine:
        return write_routine(body, launch);
      case LaunchKind::loop:
        return write_loop(body, launch);
      case LaunchKind::count:
        return write_count(body, launch);
      case LaunchKind::branch:
        return write_branch(body, launch);
    }
  }

  void write_block(std::string& body, const LaunchBlock& block) {
    extents_.in_block([&] {
      for (const Launch& launch : block.launches) write_launch(body, launch);
    });
  }

  void write_slot(std::string& body, size_t at, const char* type, const std::string& value) {
    std::string slot = name("arg");
    append(body, "  ", slot, " = getelementptr i64, ptr %args, i64 ", at, "\n  store ", type, " ", value, ", ptr ",
           slot, "\n");
  }

  void write_slots(std::string& body, const std::vector<Word>& words, size_t at = 0) {
    for (const Word& word : words) write_slot(body, at++, word.type.c_str(), word.value);
  }

  void write_routine(std::string& body, const Launch& launch) {
    std::vector<Word> words;
    for (const Dim& number : launch.numbers) words.push_back({"i64", extents_.extent(number)});
    add_buffers(body, launch, words);
    for (int32_t kernel : launch.bodies)
      words.push_back({"ptr", cat("@", program_.kernels[static_cast<size_t>(kernel)].name)});
    for (const std::string& text : launch.texts) words.push_back({"ptr", text_constant(text)});
    size_t first = launch.numbers.size(), second = first + launch.buffers.size();
    std::string routine = cat("weft_routine_", launch.routine);
    module_.declare(cat("declare void @", routine, "(ptr, ptr, ptr)"));
    if (has_many_) return call_launcher(body, Launcher::routine, launch, routine, cat(first), cat(second), words);
    write_slots(body, words);
    std::string buffers = name("buffers"), bodies = name("bodies");
    tell(body, launch, true);
    append(body, "  ", buffers, " = getelementptr i64, ptr %args, i64 ", first, "\n  ", bodies,
           " = getelementptr i64, ptr %args, i64 ", second, "\n  call void @", routine, "(ptr %args, ptr ", buffers,
           ", ptr ", bodies, ")\n");
    tell(body, launch, false);
  }

  // In a block of its own: LLVM's work grows with the square of the calls in one.
  void call_launcher(std::string& body, Launcher kind, const Launch& launch, const std::string& function,
                     const std::string& first, const std::string& second, const std::vector<Word>& words) {
    std::string next = name("launched").substr(1);
    append(body, launch_text(module_, kind, numbers_.at(&launch), function, first, second, words), "  br label %", next,
           "\n", next, ":\n");
  }

  // A zero-terminated string of the module.
  std::string text_constant(const std::string& text) {
    std::string name = cat("@weft.text.", entry_, ".", next_++), bytes;
    for (unsigned char c : text) {
      const char* digits = "0123456789ABCDEF";
      append(bytes, '\\', digits[c >> 4], digits[c & 15]);
    }
    append(module_.out, name, " = private constant [", text.size() + 1, " x i8] c\"", bytes, "\\00\"\n");
    return name;
  }

  void write_loop(std::string& body, const Launch& launch) {
    std::string head = name("head").substr(1), inside = name("inside").substr(1), done = name("done").substr(1);
    append(body, "  br label %", head, "\n", head, ":\n");
    write_block(body, launch.blocks[0]);
    leave_where_held(body, launch, inside, done);
    append(body, inside, ":\n");
    write_block(body, launch.blocks[1]);
    look(body, launch);
    append(body, "  br label %", head, "\n", done, ":\n");
  }

  // One of the services that few programs call, loaded where it is called.
  std::string service(std::string& body, size_t word) {
    std::string slot = name("slot"), function = name("service");
    append(body, "  ", slot, " = getelementptr ptr, ptr %services, i64 ", word, "\n  ", function, " = load ptr, ptr ",
           slot, "\n");
    return function;
  }

  void write_independent(std::string& body, const Launch& launch) {
    check(counters_.size() <= most_nested, "an independent loop inside ", counters_.size(), " others");
    std::string turns = cat("weft_turns_", entry_, ".", next_++);
    std::vector<std::string> outer;
    EntryWriter inner(module_, program_, dots_, numbers_);
    for (const auto& [counter, value] : counters_) outer.push_back(counter);
    inner.write_turns(turns, launch, outer);
    size_t at = 0;
    for (const char* pointer : {"%symbols", "%buffers", "%services"}) write_slot(body, at++, "ptr", pointer);
    for (const auto& [counter, value] : counters_) write_slot(body, at++, "i64", value);
    std::string turns_service = service(body, WEFT_WORD(weft_services, parallel_turns));
    append(body, "  call void ", turns_service, "(ptr %pool, i64 ", extents_.extent(launch.trips), ", i64 ",
           extents_.extent(launch.turn_bytes), ", ptr @", turns, ", ptr %args)\n");
  }

  void write_count(std::string& body, const Launch& launch) {
    if (launch.independent) return write_independent(body, launch);
    if (!takes_in_ && module_.short_loops.count(&launch)) return write_short(body, launch);
    if (!launch.tiling) return write_turns_from(body, launch, "0", extents_.extent(launch.trips));
    // Who listens hears of each launch.
    std::string each = name("each").substr(1), tiled = name("tiled").substr(1), done = name("done").substr(1);
    append(body, "  br i1 %listens, label %", each, ", label %", tiled, "\n", each, ":\n");
    extents_.in_block([&] { write_turns_from(body, launch, "0", extents_.extent(launch.trips)); });
    append(body, "  br label %", done, "\n", tiled, ":\n");
    extents_.in_block([&] { write_tiled(body, launch); });
    append(body, "  br label %", done, "\n", done, ":\n");
  }

  // Who listens hears of each launch.
  void write_short(std::string& body, const Launch& launch) {
    std::string each = name("each").substr(1), all = name("all").substr(1), done = name("done").substr(1);
    append(body, "  br i1 %listens, label %", each, ", label %", all, "\n", each, ":\n");
    extents_.in_block([&] { write_turns_from(body, launch, "0", extents_.extent(launch.trips)); });
    const std::string function = cat(entry_, ".turns", next_++);
    append(body, "  br label %", done, "\n", all, ":\n  call void @", function,
           "(ptr %symbols, ptr %buffers, ptr %services");
    std::vector<std::string> outer;
    for (const auto& [counter, value] : counters_) {
      append(body, ", i64 ", value);
      outer.push_back(counter);
    }
    append(body, ")\n  br label %", done, "\n", done, ":\n");
    EntryWriter(module_, program_, dots_, numbers_).write_short_turns(function, launch, outer);
  }

  // A table of kernels, then their arguments.
  void write_tiled(std::string& body, const Launch& launch) {
    const std::vector<Launch>& kernels = launch.blocks[0].launches;
    size_t at = kernels.size() * tiled_words;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const Launch& inner = kernels[i];
      std::string arguments = name("arguments");
      append(body, "  ", arguments, " = getelementptr i64, ptr %args, i64 ", at, "\n");
      std::vector<Word> words = words_of(body, inner);
      write_slots(body, words, at);
      at += words.size();
      size_t word = i * tiled_words;
      write_slot(body, word + WEFT_WORD(weft_tiled_kernel, body), "ptr",
                 cat("@", program_.kernels[static_cast<size_t>(inner.kernel)].name));
      write_slot(body, word + WEFT_WORD(weft_tiled_kernel, args), "ptr", arguments);
      word += WEFT_WORD(weft_tiled_kernel, items);
      for (const Dim& number : {inner.parallel, Dim(launch.tiling->rows[i].unit), Dim(launch.tiling->rows[i].first),
                                max(inner.cost, Dim(1))})
        write_slot(body, word++, "i64", extents_.extent(number));
    }
    std::string tiled_service = service(body, WEFT_WORD(weft_services, tiled_turns));
    append(body, "  call void ", tiled_service, "(ptr %pool, i64 ", extents_.extent(launch.trips), ", i64 ",
           kernels.size(), ", ptr %args, i64 ", launch.tiling->reach, ", i64 ", launch.tiling->row_bytes, ")\n");
  }

  void add_buffers(std::string& body, const Launch& launch, std::vector<Word>& words) {
    for (int32_t buffer : launch.buffers) words.push_back({"ptr", base_of(body, buffer)});
  }

  // Buffers, symbols and where checks fail.
  std::vector<Word> words_of(std::string& body, const Launch& launch) {
    std::vector<Word> words;
    add_buffers(body, launch, words);
    for (const Dim& symbol : launch.symbols) words.push_back({"i64", extents_.extent(symbol)});
    std::string failed = launch.checks.empty() ? "" : service(body, WEFT_WORD(weft_services, failed));
    for (int32_t number : launch.checks) words.push_back({"ptr", offset_from(body, failed, Dim(int64_t{8} * number))});
    return words;
  }

  void write_turns_from(std::string& body, const Launch& launch, const std::string& begin, const std::string& end) {
    std::string before = name("before").substr(1), head = name("head").substr(1), inside = name("inside").substr(1),
                asks = name("asks").substr(1), latch = name("latch").substr(1), done = name("done").substr(1),
                i = name("i"), next = name("next"), more = name("more");
    std::string first = extents_.extent(launch.first), scaled = name("scaled"), value = name("counter");
    append(body, "  br label %", before, "\n", before, ":\n  br label %", head, "\n", head, ":\n  ", i, " = phi i64 [",
           begin, ", %", before, "], [", next, ", %", latch, "]\n  ", more, " = icmp slt i64 ", i, ", ", end,
           "\n  br i1 ", more, ", label %", launch.until ? asks : inside, ", label %", done, "\n");
    if (launch.until) {
      append(body, asks, ":\n");
      extents_.in_block([&] { leave_where_held(body, launch, done, inside); });
    }
    append(body, inside, ":\n  ", scaled, " = mul i64 ", i, ", ", launch.step, "\n  ", value, " = add i64 ", scaled,
           ", ", first, "\n");
    enter_loop(launch.counter, value);
    write_block(body, launch.blocks[0]);
    counters_.pop_back();
    look(body, launch);
    append(body, "  br label %", latch, "\n", latch, ":\n  ", next, " = add nsw i64 ", i, ", 1\n  br label %", head,
           "\n", done, ":\n");
  }

  // Goes on at one of two labels, as the boolean in the first buffer says.
  void leave_where_held(std::string& body, const Launch& launch, const std::string& held, const std::string& other) {
    std::string place = base_of(body, launch.buffers[0]), byte = name("byte"), holds = name("holds");
    append(body, "  ", byte, " = load i8, ptr ", place, "\n  ", holds, " = icmp ne i8 ", byte, ", 0\n  br i1 ", holds,
           ", label %", held, ", label %", other, "\n");
  }

  void write_branch(std::string& body, const Launch& launch) {
    const BufferPlan& buffer = program_.buffers[static_cast<size_t>(launch.buffers[0])];
    const char* type = is_bool(buffer.type.dtype) ? "i8" : "i32";
    std::string place = base_of(body, buffer), value = name("value"), done = name("done").substr(1);
    append(body, "  ", value, " = load ", type, ", ptr ", place, "\n");
    std::vector<std::string> labels;
    for (size_t i = 0; i < launch.blocks.size(); ++i) labels.push_back(name("branch").substr(1));
    // A boolean chooses the first where it holds; a number without a branch the last.
    append(body, "  switch ", type, " ", value, ", label %",
           is_bool(buffer.type.dtype) ? labels.front() : labels.back(), " [");
    if (is_bool(buffer.type.dtype))
      append(body, " ", type, " 0, label %", labels.back());
    else
      for (size_t i = 0; i + 1 < labels.size(); ++i) append(body, " ", type, " ", i, ", label %", labels[i]);
    append(body, " ]\n");
    for (size_t i = 0; i < launch.blocks.size(); ++i) {
      append(body, labels[i], ":\n");
      write_block(body, launch.blocks[i]);
      append(body, "  br label %", done, "\n");
    }
    append(body, done, ":\n");
  }

  void write_kernel(std::string& body, const Launch& launch) {
    const Kernel& kernel = program_.kernels[static_cast<size_t>(launch.kernel)];
    std::vector<Word> words = words_of(body, launch);
    if (kernel.dot && kernel.dot->raw) words.push_back({"i64", is_packed(body, launch, *kernel.dot)});
    Dim count = launch.parallel, cost = max(launch.cost, Dim(1));
    if (kernel.dot) {
      const Dot& dot = *kernel.dot;
      Dim batch = batch_of(dot);
      DotKernel form = LoopDot(module_, kernel).form();
      count = dot.pack_rhs ? dots_.pack_items(form, batch, dot.n) : dots_.items(form, batch, dot.m, dot.n);
      cost = dot.pack_rhs ? max(dot.k, Dim(1)) * Dim(32) : max(dots_.item_cost(form, dot.m, dot.k), Dim(1));
    }
    std::string items = extents_.extent(count);
    bool is_small = count.is(1) || (count * cost).max() < small_launch;
    Launcher kind = is_small ? Launcher::serial : Launcher::parallel;
    std::string price = is_small ? "0" : extents_.extent(cost);
    bool chooses = !is_small && module_.other_ways.count(kernel.name) != 0;
    if (has_many_ && !chooses)
      call_launcher(body, kind, launch, kernel.name, items, price, words);
    else
      call_kernel(body, kind, launch, items, price, chooses, words);
    if (turns_ && kernel.dot && counters_.back().first == turns_->counter) fetch_next(body, launch, kernel);
  }

  void call_kernel(std::string& body, Launcher kind, const Launch& launch, const std::string& items,
                   const std::string& price, bool chooses, const std::vector<Word>& words) {
    std::string function = cat("@", program_.kernels[static_cast<size_t>(launch.kernel)].name);
    if (takes_in_) {
      append(body, "  call void ", function, inlined_way, "(");
      for (const Word& word : words) append(body, word.type, " ", word.value, ", ");
      append(body, "i64 0, i64 ", items, ")\n");
      return;
    }
    write_slots(body, words);
    tell(body, launch, true);
    if (kind == Launcher::serial) {
      append(body, "  call void ", function, "(ptr %args, i64 0, i64 ", items, ")\n");
    } else {
      std::string trial = chooses ? begin_trial(body, launch, function) : "";
      append(body, "  call void %parallel_for(ptr %pool, i64 ", items, ", i64 ", price, ", ptr ", function,
             ", ptr %args)\n");
      if (chooses)
        append(body, "  call void %end_trial(ptr %services, i64 ", numbers_.at(&launch), ", i64 ", trial, ", i64 ",
               items, ")\n");
    }
    tell(body, launch, false);
  }

  // Asks for the left operand of the next turn: it arrives while this one goes on, instead of a few rows at a time when
  // each tile begins.
  void fetch_next(std::string& body, const Launch& launch, const Kernel& kernel) {
    const Dot& dot = *kernel.dot;
    const BufferPlan& buffer =
        program_.buffers[static_cast<size_t>(launch.buffers[static_cast<size_t>(dot.lhs.memory)])];
    if (buffer.place == Place::turn) return;
    std::optional<NextRows> next = rows_of_next_turn(kernel, launch, *turns_, size_of(buffer.type.dtype));
    if (!next) return;
    std::string from = offset_from(body, base_of(body, buffer), next->offset);
    append(body, "  call void @weft.fetch(ptr ", from, ", i64 ", extents_.extent(next->rows), ", i64 ",
           extents_.extent(next->stride), ", i64 ", extents_.extent(next->bytes), ")\n");
    declare_fetch(module_);
  }

  // Asks which of a kernel's two functions to run: `function` becomes that. What to tell as it ends.
  std::string begin_trial(std::string& body, const Launch& launch, std::string& function) {
    std::string trial = name("trial"), way = name("way"), is_other = name("other"), chosen = name("function");
    append(body, "  ", trial, " = call i64 %begin_trial(ptr %services, i64 ", numbers_.at(&launch), ")\n  ", way,
           " = and i64 ", trial, ", 1\n  ", is_other, " = icmp ne i64 ", way, ", 0\n  ", chosen, " = select i1 ",
           is_other, ", ptr ", function, other_way, ", ptr ", function, "\n");
    function = chosen;
    return trial;
  }

  std::string name(const char* stem) { return cat("%", stem, ".", next_++); }

  ModuleText& module_;
  const Program& program_;
  DotEmitter& dots_;
  const std::map<const Launch*, size_t>& numbers_;
  Kernel empty_;
  KernelEmitter extents_;
  std::string entry_;
  bool has_many_ = false;                                      // launches, which go by launchers
  std::vector<std::pair<std::string, std::string>> counters_;  // of the loops around, with their values
  std::map<int32_t, size_t> packing_;  // buffers that setup packs, each with the number of the launch
  bool packs_later_ = false;
  const Launch* turns_ = nullptr;         // the independent loop that is written
  bool takes_in_ = false;                 // kernels, in the turns of a loop
  const LoopScalars* scalars_ = nullptr;  // of that loop
  int next_ = 0;
};

}  // namespace

void write_entries(ModuleText& module, const Program& program, DotEmitter& dots) {
  std::map<const Launch*, size_t> numbers;
  for (const auto* list : {&program.run, &program.setup})
    for (const Launch* launch : plain_launches(*list)) numbers.emplace(launch, numbers.size());
  EntryWriter run(module, program, dots, numbers);
  run.write("weft_run", program.run);
  EntryWriter setup(module, program, dots, numbers);
  setup.write("weft_setup", program.setup, true);
}

}  // namespace weft
