// Writing LLVM IR: typed values of any number of lanes with operators, appended to the text of a block.
#pragma once

#include <string>
#include <string_view>

#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/core/text.h"

namespace weft {

// What a lane is, in registers.
enum class Elem : uint8_t { i1, i32, i64, f32, f64 };
int bits_of(Elem elem);
std::string_view name_of(Elem elem);

// Text that ends in an open block, and that block's label.
struct Block {
  std::string text, label;
  int next = 0;  // number of the next name
};

class Writer;

// A value: a register or a constant, one element or a vector of the writer's lanes.
struct V {
  Writer* w = nullptr;
  std::string name;
  Elem elem = Elem::f32;
};

// A constant of a float type.
std::string real_text(Elem elem, double value);

// Appends instructions over `lanes` elements (1: scalars, not vectors of one).
class Writer {
 public:
  Writer(ModuleText& module, Block& block, int lanes) : module_(&module), block_(&block), lanes_(lanes) {}

  ModuleText& module() const { return *module_; }
  Block& block() const { return *block_; }
  const Target& target() const { return module_->target; }
  int lanes() const { return lanes_; }
  std::string type(Elem elem) const;
  // ".v16f32", for intrinsics.
  std::string suffix(Elem elem) const;

  std::string fresh() { return cat("%v", block_->next++); }
  std::string fresh_label() { return cat("L", block_->next++); }
  void open(const std::string& label);    // a new block begins
  void branch(const std::string& label);  // ends the block
  template <class... Parts>
  void line(const Parts&... parts) {
    block_->text += "  ";
    append(block_->text, parts...);
    block_->text += '\n';
  }
  // name = parts
  template <class... Parts>
  V def(Elem elem, const Parts&... parts) {
    V v{this, fresh(), elem};
    append(block_->text, "  ", v.name, " = ");
    append(block_->text, parts...);
    block_->text += '\n';
    return v;
  }

  V real(Elem elem, double value);
  V integer(Elem elem, int64_t value);
  V zero(Elem elem);
  V binary(std::string_view op, const V& a, const V& b);
  V compare(std::string_view op, const V& a, const V& b);  // "fcmp olt", "icmp slt"
  V cast(std::string_view op, const V& a, Elem to);
  V select(const V& condition, const V& a, const V& b);
  // An intrinsic over operands of one type: "llvm.sqrt".
  V intrinsic(std::string_view name, std::initializer_list<V> operands, std::string_view extra = {});
  // a * b + c, fused where the machine can, otherwise rounded twice: for approximations, not for the user's fma.
  V mad(const V& a, const V& b, const V& c);
  // A function of libm, f64 to f64, for each lane where `mask` is true; the others keep `otherwise`, and nothing is
  // called when all do.
  V rare(const V& mask, std::string_view function, const V& operand, const V& otherwise);

 private:
  std::string masked_function(std::string_view function, Elem elem);
  ModuleText* module_;
  Block* block_;
  int lanes_;
};

V operator+(const V& a, const V& b);
V operator-(const V& a, const V& b);
V operator*(const V& a, const V& b);
V operator/(const V& a, const V& b);
V operator&(const V& a, const V& b);
V operator|(const V& a, const V& b);
V operator^(const V& a, const V& b);
V operator-(const V& a);
V operator~(const V& a);
V operator+(const V& a, double b);
V operator-(const V& a, double b);
V operator*(const V& a, double b);
V shl(const V& a, int64_t bits);
V lshr(const V& a, int64_t bits);
V ashr(const V& a, int64_t bits);
// The same bits as another type of equal width.
V bits(const V& a, Elem to);
inline V mad(const V& a, const V& b, const V& c) { return a.w->mad(a, b, c); }
inline V mad(const V& a, const V& b, double c) { return a.w->mad(a, b, a.w->real(a.elem, c)); }
inline V mad(const V& a, double b, const V& c) { return a.w->mad(a, a.w->real(a.elem, b), c); }
inline V select(const V& condition, const V& a, const V& b) { return a.w->select(condition, a, b); }
V abs_of(const V& a);
V sqrt_of(const V& a);
V copysign_of(const V& magnitude, const V& sign);
inline bool is_float(Elem elem) { return elem >= Elem::f32; }
inline V less(const V& a, const V& b) { return a.w->compare(is_float(a.elem) ? "fcmp olt" : "icmp slt", a, b); }
inline V less(const V& a, double b) { return less(a, a.w->real(a.elem, b)); }
inline V greater(const V& a, double b) { return less(a.w->real(a.elem, b), a); }
inline V is_nan(const V& a) { return a.w->compare("fcmp uno", a, a); }
inline V equal(const V& a, const V& b) { return a.w->compare(is_float(a.elem) ? "fcmp oeq" : "icmp eq", a, b); }
inline V equal(const V& a, double b) { return equal(a, a.w->real(a.elem, b)); }

}  // namespace weft
