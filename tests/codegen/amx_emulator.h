// AMX on a CPU that lacks it: its instructions trap, and are carried out here as Intel's Software Developer's Manual,
// volume 2, describes them. What runs is the machine code that CPUs with AMX run.
#pragma once

#include <ucontext.h>

#include <array>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <utility>

namespace weft {

// As long as one lives. What is wrong with an instruction or its operands is left to the trap. Configurations that a
// CPU refuses, and rows and bytes that do not fit each other, are among that.
class AmxEmulator {
 public:
  AmxEmulator() {
    struct sigaction action{};
    action.sa_sigaction = trap;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGILL, &action, &before());
  }
  ~AmxEmulator() { sigaction(SIGILL, &before(), nullptr); }
  AmxEmulator(const AmxEmulator&) = delete;
  AmxEmulator& operator=(const AmxEmulator&) = delete;

  // Instructions carried out in this thread so far.
  static int64_t& count() {
    static thread_local int64_t value = 0;
    return value;
  }

 private:
  struct Tile {
    int rows = 0, row_bytes = 0;
    std::array<std::array<uint8_t, 64>, 16> data{};
  };
  struct State {
    bool is_configured = false;
    std::array<Tile, 8> tiles{};
  };
  // VEX with three bytes of prefix, map 0F38.
  struct Instruction {
    int opcode, prefix, vvvv, mod, reg, rm;
    const uint8_t* memory = nullptr;
    int64_t stride = 0;
    int length = 0;
  };
  enum Prefix { none, p66, pf3, pf2 };

  static struct sigaction& before() {
    static struct sigaction action;
    return action;
  }
  static State& state() {
    static thread_local State value;
    return value;
  }

  static void trap(int, siginfo_t*, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto* code = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
    Instruction instruction{};
    if (!decode(code, registers, instruction) || !carry_out(instruction)) {
      sigaction(SIGILL, &before(), nullptr);  // it traps again
      return;
    }
    ++count();
    registers[REG_RIP] += instruction.length;
  }

  template <class Registers>
  static int64_t value_of(const Registers& registers, int number) {
    constexpr int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                             REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return registers[order[number]];
  }

  template <class Registers>
  static bool decode(const uint8_t* code, const Registers& registers, Instruction& to) {
    if (code[0] != 0xc4 || (code[1] & 31) != 2 || (code[2] & 0x84) != 0) return false;  // 0F38, W0, 128 bits
    int x = code[1] & 64 ? 0 : 8, b = code[1] & 32 ? 0 : 8, modrm = code[4];
    to = {code[3], code[2] & 3, ~code[2] >> 3 & 15, modrm >> 6, modrm >> 3 & 7, modrm & 7};
    to.length = 5;
    if (to.mod == 3) return !b;
    int64_t address = 0, scale = 0;
    int base = to.rm | b;
    if (to.rm == 4) {
      int sib = code[to.length++], index = (sib >> 3 & 7) | x;
      scale = int64_t{1} << (sib >> 6);
      base = (sib & 7) | b;
      if (index != 4) to.stride = value_of(registers, index) * scale;
    }
    if (to.mod == 0 && (base & 7) == 5) return false;  // none of those that are written
    address = value_of(registers, base);
    if (to.mod == 1) address += static_cast<int8_t>(code[to.length++]);
    if (to.mod == 2) {
      int32_t more;
      std::memcpy(&more, code + to.length, sizeof more);
      address += more, to.length += 4;
    }
    to.memory = reinterpret_cast<const uint8_t*>(address);
    return true;
  }

  static bool carry_out(const Instruction& i) {
    State& now = state();
    if (i.opcode == 0x49 && i.prefix == none) return i.memory ? configure(i.memory) : release();
    if (!now.is_configured) return false;
    Tile& tile = now.tiles[static_cast<size_t>(i.reg)];
    if (tile.rows == 0) return false;
    if (i.opcode == 0x49 && i.prefix == pf2 && !i.memory) return tile.data = {}, true;
    if (i.opcode == 0x4b && i.memory && (i.prefix == pf2 || i.prefix == pf3)) return move(tile, i);
    if ((i.opcode == 0x5c || i.opcode == 0x5e) && !i.memory && i.vvvv < 8) {
      const Tile &a = now.tiles[static_cast<size_t>(i.rm)], &b = now.tiles[static_cast<size_t>(i.vvvv)];
      bool is_distinct = i.reg != i.rm && i.reg != i.vvvv && i.rm != i.vvvv;
      if (!is_distinct || a.rows != tile.rows || b.row_bytes != tile.row_bytes || a.row_bytes != 4 * b.rows ||
          b.rows == 0)
        return false;
      if (i.opcode == 0x5c) return i.prefix == pf3 && (multiply_bf16(tile, a, b), true);
      // None, 66, F3, F2: unsigned by unsigned, unsigned by signed, signed by unsigned, signed by signed.
      multiply_bytes(tile, a, b, i.prefix == pf3 || i.prefix == pf2, i.prefix == p66 || i.prefix == pf2);
      return true;
    }
    return false;
  }

  static bool release() {
    state() = {};
    return true;
  }

  static bool configure(const uint8_t* from) {
    State next{.is_configured = true};
    if (from[0] != 1) return false;
    for (int i = 1; i < 64; ++i)
      if ((i < 16 || (i >= 32 && i < 48) || i >= 56) && from[i]) return false;
    for (size_t i = 0; i < 8; ++i) {
      uint16_t bytes;
      std::memcpy(&bytes, from + 16 + 2 * i, 2);
      int rows = from[48 + i];
      if (rows > 16 || bytes > 64 || (rows == 0) != (bytes == 0)) return false;
      next.tiles[i].rows = rows, next.tiles[i].row_bytes = bytes;
    }
    state() = next;
    return true;
  }

  static bool move(Tile& tile, const Instruction& i) {
    bool is_store = i.prefix == pf3;
    auto bytes = static_cast<size_t>(tile.row_bytes);
    if (!is_store) tile.data = {};
    for (int row = 0; row < tile.rows; ++row) {
      auto* memory = const_cast<uint8_t*>(i.memory) + row * i.stride;
      auto* data = tile.data[static_cast<size_t>(row)].data();
      is_store ? std::memcpy(memory, data, bytes) : std::memcpy(data, memory, bytes);
    }
    return true;
  }

  template <class T>
  static T at(const Tile& tile, int row, int index) {
    T value;
    std::memcpy(&value, tile.data[static_cast<size_t>(row)].data() + static_cast<size_t>(index) * sizeof(T),
                sizeof value);
    return value;
  }
  template <class T>
  static void put(Tile& tile, int row, int index, T value) {
    std::memcpy(tile.data[static_cast<size_t>(row)].data() + static_cast<size_t>(index) * sizeof(T), &value,
                sizeof value);
  }

  // Subnormal numbers are zero.
  static float flushed(float value) { return std::abs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value; }

  // Products of bf16 are exact in f32: to fuse them with the sums changes nothing.
  static void multiply_bf16(Tile& to, const Tile& a, const Tile& b) {
    auto number = [](const Tile& tile, int row, int index) {
      return flushed(std::bit_cast<float>(uint32_t{at<uint16_t>(tile, row, index)} << 16));
    };
    float lines[16][2][16] = {};
    for (int k = 0; k < b.rows; ++k)
      for (int n = 0; n < to.row_bytes / 4; ++n)
        for (int odd : {0, 1}) lines[k][odd][n] = number(b, k, 2 * n + odd);
    for (int m = 0; m < to.rows; ++m) {
      float sums[2][16] = {};
      for (int k = 0; k < b.rows; ++k)
        for (int odd : {0, 1}) {
          float x = number(a, m, 2 * k + odd);
          for (int n = 0; n < 16; ++n) sums[odd][n] = flushed(sums[odd][n] + x * lines[k][odd][n]);
        }
      for (int n = 0; n < to.row_bytes / 4; ++n)
        put(to, m, n, flushed(flushed(at<float>(to, m, n)) + flushed(sums[0][n] + sums[1][n])));
    }
  }

  static void multiply_bytes(Tile& to, const Tile& a, const Tile& b, bool a_is_signed, bool b_is_signed) {
    auto number = [](const Tile& tile, int row, int index, bool is_signed) {
      return is_signed ? int{at<int8_t>(tile, row, index)} : int{at<uint8_t>(tile, row, index)};
    };
    int lines[64][16] = {};
    for (int k = 0; k < 4 * b.rows; ++k)
      for (int n = 0; n < to.row_bytes / 4; ++n) lines[k][n] = number(b, k / 4, 4 * n + k % 4, b_is_signed);
    for (int m = 0; m < to.rows; ++m) {
      int sums[16] = {};  // of 64 products less than 2^16: they fit
      for (int k = 0; k < 4 * b.rows; ++k) {
        int x = number(a, m, k, a_is_signed);
        for (int n = 0; n < 16; ++n) sums[n] += x * lines[k][n];
      }
      for (int n = 0; n < to.row_bytes / 4; ++n) put(to, m, n, at<uint32_t>(to, m, n) + static_cast<uint32_t>(sums[n]));
    }
  }
};

}  // namespace weft
