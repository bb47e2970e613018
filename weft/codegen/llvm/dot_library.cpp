// The loops of products that are compiled when Weftwork is built.
#include "weft/codegen/llvm/dot_shape.h"

namespace weft {
namespace {

// Element types of lhs, rhs and the sums.
constexpr DType common_types[][3] = {{DType::f32, DType::f32, DType::f32},   {DType::f64, DType::f64, DType::f64},
                                     {DType::bf16, DType::bf16, DType::f32}, {DType::f16, DType::f16, DType::f32},
                                     {DType::i8, DType::i8, DType::i32},     {DType::i32, DType::i32, DType::i32},
                                     {DType::i64, DType::i64, DType::i64},   {DType::u8, DType::i8, DType::i32},
                                     {DType::f32, DType::bf16, DType::f32},  {DType::f32, DType::f16, DType::f32},
                                     {DType::f32, DType::i8, DType::f32},    {DType::boolean, DType::f32, DType::f32}};

// Weights of four bits, two in a byte, that are whole numbers from -8 on.
constexpr FourBits common_bits[] = {{0, false, -8}, {4, false, -8}};

// All that a kernel may ask for.
DotNeeds everything(const DotForm& form, const DotShape& shape) {
  DotNeeds needs{form.lhs, form.rhs, form.accumulate, form.packs_lhs, form.by_panels, true};
  if (!form.by_panels) needs.packed = needs.raw = needs.slim = needs.inner = needs.fetch = true;
  needs.bits = form.bits;
  needs.windows = form.takes_windows();
  needs.half = true;
  for (int height = 1; height <= (form.by_panels ? shape.rows : shape.tall); ++height) needs.heights.insert(height);
  for (int height = least_packing(shape); height <= shape.rows && !form.amx && !form.by_panels; ++height)
    needs.packing.insert(height);
  return needs;
}

}  // namespace

std::map<std::string, std::string> DotEmitter::library(const Target& target) {
  std::map<std::string, std::string> modules;
  auto add = [&](const DotForm& form, auto write) {
    if (target.amx && !form.amx) return;
    DotEmitter emitter(target);
    emitter.is_library_ = true;
    DotWriter writer(emitter, form);
    std::string name = write(writer);
    modules.emplace(name, cat("target triple = \"", target.triple, "\"\n\n", emitter.shared()));
  };
  for (auto [lhs, rhs, accumulate] : common_types) {
    DotForm form = dot_form(target, lhs, rhs, accumulate);
    for (bool packs_lhs : {false, true}) {
      // Lhs that is widened is always packed, and single elements that are not never.
      bool differs = size_of(form.packed) != size_of(lhs) || is_float(form.packed) != is_float(lhs);
      if (packs_lhs ? !differs && form.group == 1 : differs) continue;
      form.packs_lhs = packs_lhs;
      add(form, [](DotWriter& writer) { return writer.driver(everything(writer.form, writer.shape)); });
    }
    add(form, [](DotWriter& writer) { return writer.pack_driver(); });
    if (lhs != rhs || lhs != accumulate || !is_float(lhs)) continue;
    form.packs_lhs = form.by_panels = true;
    add(form, [](DotWriter& writer) { return writer.driver(everything(writer.form, writer.shape)); });
  }
  for (const FourBits& bits : common_bits) {
    DotForm form = dot_form(target, DType::f32, DType::u8, DType::f32);
    form.bits = bits;
    add(form, [](DotWriter& writer) { return writer.driver(everything(writer.form, writer.shape)); });
  }
  return modules;
}

}  // namespace weft
