// SPDX-License-Identifier: Apache-2.0
// What the thin templates call: the binary interface of the core library (pyasc/model/src).
#pragma once
#include "params.h"

namespace pyasc_model {

using AscendC::TPosition;

// The line of the kernel that made a call; a defaulted last parameter of every function of the interface.
struct Loc {
    const char* file;
    int line;
    static constexpr Loc here(const char* f = __builtin_FILE(), int l = __builtin_LINE()) { return {f, l}; }
};

// A tensor in on-chip memory. `buffer` is 0 for a tensor at a fixed address.
struct View {
    uint32_t addr = 0;
    uint32_t bytes = 0;
    uint16_t buffer = 0;
    uint16_t generation = 0;
    TPosition position = TPosition::MAX;
    DType dtype = DType::U8;
};

struct GmView {
    uint8_t* ptr = nullptr;
    uint8_t* begin = nullptr;  // the range declared by SetGlobalBuffer; end == nullptr when no size was given
    uint8_t* end = nullptr;
    DType dtype = DType::U8;
    bool bypass_l2 = false;
};

// Which lanes an instruction works on: a count, the first n of every repeat, bits, or the mask register as it stands.
struct Lanes {
    enum Form : uint8_t { COUNT, FIRST, BITS, REGISTER };
    Form form = COUNT;
    uint64_t low = 0, high = 0;
    int32_t repeat = 0;
    static Lanes count(int64_t n) { return {COUNT, static_cast<uint64_t>(n), 0, 0}; }
    static Lanes first(bool set, uint64_t n, int32_t repeat)
    {
        return set ? Lanes{FIRST, n, 0, repeat} : Lanes{REGISTER, 0, 0, repeat};
    }
    static Lanes bits(bool set, const uint64_t mask[], int32_t repeat, bool wide)
    {
        return set ? Lanes{BITS, mask[0], wide ? mask[1] : 0, repeat} : Lanes{REGISTER, 0, 0, repeat};
    }
};

// Block and repeat strides in 32-byte units, destination first. Unset (0xffff) means contiguous.
struct Strides {
    static constexpr uint16_t DENSE = 0xffff;
    uint16_t block[4] = {1, 1, 1, 1};
    uint16_t repeat[4] = {DENSE, DENSE, DENSE, DENSE};
    static Strides dense() { return {}; }
    static Strides unary(const AscendC::UnaryRepeatParams& p)
    {
        return {{p.dstBlkStride, p.srcBlkStride, 1, 1}, {p.dstRepStride, p.srcRepStride, 0, 0}};
    }
    static Strides binary(const AscendC::BinaryRepeatParams& p)
    {
        return {{p.dstBlkStride, p.src0BlkStride, p.src1BlkStride, 1},
                {p.dstRepStride, p.src0RepStride, p.src1RepStride, 0}};
    }
    static Strides out(uint16_t block, uint16_t repeat) { return {{block, 1, 1, 1}, {repeat, 0, 0, 0}}; }
};

enum class Op : uint8_t {
    Exp, Ln, Sqrt, Rsqrt, Reciprocal, Abs, Relu, Not,
    Add, Sub, Mul, Div, Max, Min, And, Or, AddRelu, SubRelu, MulAddDst, FusedMulAdd, MulAddRelu,
    AddReluCast, SubReluCast, MulCast,
    Adds, Muls, Maxs, Mins, LeakyRelu, ShiftLeft, ShiftRight, ShiftRightRound, Axpy,
    Cast, CastDequant, Duplicate, CreateVecIndex, Copy, COUNT
};

void elementwise(Op op, const View& dst, const View* src, int sources, const Lanes& lanes, const Strides& strides,
                 Scalar scalar, AscendC::RoundMode mode, Loc loc);

// Tensors
void local_read(const View& t, uint32_t index, void* value, Loc loc);
void local_write(const View& t, uint32_t index, const void* value, Loc loc);
void global_read(const GmView& t, uint64_t index, void* value, bool bypass, Loc loc);
void global_write(const GmView& t, uint64_t index, const void* value, bool bypass, Loc loc);
View static_tensor(TPosition position, uint32_t addr, uint32_t bytes, DType dtype, Loc loc);
uint32_t linear_alloc(AscendC::Hardware memory, uint32_t* used, uint32_t bytes, Loc loc);

// TPipe, queues and buffers
void pipe_open(void* self, Loc loc);
void* current_pipe(Loc loc);
void pipe_close();
void pipe_reset(Loc loc);
int queue_init(TPosition src, TPosition dst, int depth, uint32_t buffers, uint32_t bytes, Loc loc);
View buffer_init(TPosition position, uint32_t bytes, Loc loc);
View queue_alloc(int queue, DType dtype, Loc loc);
void queue_free(int queue, const View& t, Loc loc);
void queue_enque(int queue, const View& t, Loc loc);
View queue_deque(int queue, DType dtype, Loc loc);
int queue_free_buffers(int queue);
int queue_length(int queue);
int event_take(int event, Loc loc);
int event_peek(int event, Loc loc);
void event_give_back(int event, int id, Loc loc);

// Data movement
void copy_in(const View& dst, const GmView& src, const AscendC::DataCopyParams& p, Loc loc);
void copy_out(const GmView& dst, const View& src, const AscendC::DataCopyParams& p, Loc loc);
void copy_in_count(const View& dst, const GmView& src, uint32_t bytes, Loc loc);
void copy_out_count(const GmView& dst, const View& src, uint32_t bytes, Loc loc);
void copy_local(const View& dst, const View& src, const AscendC::DataCopyParams& p, Loc loc);
void copy_local_count(const View& dst, const View& src, uint32_t count, Loc loc);
struct Padding {
    bool enabled, left_right_given;
    uint8_t left, right;  // elements
    uint64_t value;
};
void copy_pad_in(const View& dst, const GmView& src, const AscendC::DataCopyExtParams& p, const Padding& pad, Loc loc);
void copy_pad_out(const GmView& dst, const View& src, const AscendC::DataCopyExtParams& p, Loc loc);
void copy_nd2nz(const View& dst, const GmView& src, const AscendC::Nd2NzParams& p, Loc loc);
void set_pad_value(uint64_t value, Loc loc);

// Compare, select, gather
void compare(const View& dst, const View& a, const View* b, Scalar s, AscendC::CMPMODE mode, const Lanes& lanes,
             const Strides& strides, Loc loc);
void compare_to_register(const View& a, const View& b, AscendC::CMPMODE mode, const Lanes& lanes,
                         const Strides& strides, Loc loc);
void move_compare_register(const View& t, bool to_register, Loc loc);
void select(const View& dst, const View& mask, const View& a, const View* b, Scalar s, AscendC::SELMODE mode,
            const Lanes& lanes, const Strides& strides, Loc loc);
uint64_t gather_mask(const View& dst, const View& src, const View* pattern, int fixed, bool reduce, uint32_t mask,
                     const AscendC::GatherMaskParams& p, Loc loc);
void gather(const View& dst, const View& src, const View& offsets, uint32_t base, const Lanes& lanes,
            uint16_t dst_repeat, Loc loc);
void gather_blocks(const View& dst, const View& src, const View& offsets, uint8_t repeat,
                   const AscendC::GatherRepeatParams& p, Loc loc);

// Reductions
enum class Fold : uint8_t { SUM, MAX, MIN };
void reduce_repeat(Fold fold, const View& dst, const View& src, const Lanes& lanes, int dst_repeat, int src_block,
                   int src_repeat, AscendC::ReduceOrder order, Loc loc);
void reduce_block(Fold fold, const View& dst, const View& src, const Lanes& lanes, int dst_repeat, int src_block,
                  int src_repeat, Loc loc);
void reduce_pair(const View& dst, const View& src, const Lanes& lanes, int dst_repeat, int src_block, int src_repeat,
                 Loc loc);
void reduce_tensor(Fold fold, const View& dst, const View& src, const View& tmp, const Lanes& lanes, int src_repeat,
                   bool index, Loc loc);
void read_reduction(bool sum, DType dtype, void* value, void* index, Loc loc);

// Layout and sort
void broadcast_blocks(const View& dst, const View& src, uint8_t repeat, const AscendC::BrcbRepeatParams& p, Loc loc);
void transpose16(const View& dst, const View& src, Loc loc);
void transpose_5hd(const View* dst, const View* src, const AscendC::TransDataTo5HDParams& p, Loc loc);
void sort32(const View& dst, const View& score, const View& index, int32_t repeat, Loc loc);
void merge_sort(const View& dst, const View* src, const AscendC::MrgSort4Info& info, Loc loc);
void merge_sort_result(uint16_t counts[4], Loc loc);

// Masks, atomics, modes
void mask_mode(bool counter, Loc loc);
void mask_set(uint64_t high, uint64_t low, Loc loc);
void mask_set_count(int32_t n, bool counter, DType dtype, Loc loc);
void mask_reset(Loc loc);
enum class Atomic : uint8_t { NONE, ADD, MAX, MIN };
void atomic_mode(Atomic kind, DType dtype, Loc loc);
void deq_scale(float scale, int16_t offset, bool is_signed, Loc loc);

// Synchronisation
void flag_set(int event, int id, Loc loc);
void flag_wait(int event, int id, Loc loc);
void barrier(int pipe, Loc loc);
void cross_set(int mode, int pipe, int id, Loc loc);
void cross_wait(int id, Loc loc);
void sync_all(bool vector_only, Loc loc);
void sync_all_soft(const GmView& ws, const View& ub, int32_t used, Loc loc);
void cache_clean(const GmView& t, bool whole, bool write_out, Loc loc);
void kernel_type(int type);
bool is_cube_core();

// System
int64_t block_index(Loc loc);
int64_t block_count(Loc loc);
int64_t sub_block_index(Loc loc);
int64_t sub_block_count(Loc loc);
int64_t task_ratio(Loc loc);
int64_t system_cycle(Loc loc);
void init_soc_state(Loc loc);
// The line of the call made last: all that an operator, which takes no defaulted parameter, can say of itself.
Loc last_call();
void check_assertion(bool holds, const char* expression, Loc loc);
void dump(const View& t, uint32_t tag, uint32_t count, Loc loc);
void scalar_instruction(Loc loc);
void print(const char* text);
uint8_t* system_workspace(Loc loc);

// Cube
void load_2d(const View& dst, const View& src, const AscendC::LoadData2DParams& p, Loc loc);
void load_2d_gm(const View& dst, const GmView& src, const AscendC::LoadData2DParams& p, Loc loc);
void load_transpose(const View& dst, const View& src, const AscendC::LoadData2dTransposeParams& p, Loc loc);
void load_3d(const View& dst, const View& src, const AscendC::LoadData3DParamsV2<int32_t>& p, uint32_t pad_bits,
             Loc loc);
void fill(const View& dst, uint16_t repeat, uint16_t blocks, uint16_t gap, uint64_t bits, Loc loc);
void mmad(const View& dst, const View& a, const View& b, const View* bias, const AscendC::MmadParams& p, Loc loc);
void fixpipe(const GmView* gm, const View* l1, const View& src, const View* scales,
             const AscendC::FixpipeParamsV220& p, bool row_major, Loc loc);
void cube_mode(int which, int value, Loc loc);

// One block of the high-level Matmul: C[m0.., n0..] of row-major matrices in global memory.
struct MatmulCall {
    GmView a, b, c;
    const GmView* bias = nullptr;
    bool trans_a = false, trans_b = false, atomic = false, cube_only = false;
    int m0 = 0, n0 = 0, m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0;
};
void matmul(const MatmulCall& call, Loc loc);

// Software APIs of section 10
enum class Math : uint8_t { Tanh, Erf, Sigmoid, Gelu, FasterGelu, Silu, Exp, Log, Log2, Log10, Sin, Cos, Floor, Ceil,
                            Trunc, Round, Sign, Erfc, COUNT };
void math(Math f, const View& dst, const View& src, const View* tmp, uint32_t count, Loc loc);
void arange(const View& dst, Scalar first, Scalar step, int32_t count, Loc loc);
void broadcast(const View& dst, const View& src, int dims, int axis, const uint32_t* to, const uint32_t* from,
               const View& tmp, Loc loc);
void soft_max(const View& dst, const View& sum, const View& max, const View& src, const View* tmp, uint32_t rows,
              uint32_t cols, uint32_t valid_cols, Loc loc);
void layer_norm(const View& out, const View& mean, const View& variance, const View& x, const View& gamma,
                const View& beta, const View* tmp, float epsilon, const uint32_t shape[4], Loc loc);

}  // namespace pyasc_model

#define PYASC_LOC pyasc_model::Loc loc = pyasc_model::Loc::here()
