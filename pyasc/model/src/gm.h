// SPDX-License-Identifier: Apache-2.0
// Global memory: the arrays of a launch, what is defined in them, and who touched which bytes.
#pragma once
#include "access.h"
#include "bulk.h"

namespace pyasc_model {

// One access kept in the history of a range of global memory.
struct GmRecord {
    enum Kind : uint8_t { READ, WRITE, ATOMIC } kind;
    bool scalar;
    Atomic atomic;
    uint16_t core;
    OpId id;
    int line;
    uint64_t stamp;
    uint32_t syncs;

    // Accesses of one pipe with no synchronisation between them are ordered alike towards all others.
    bool alike(const GmRecord& other) const
    {
        return kind == other.kind && scalar == other.scalar && atomic == other.atomic && core == other.core
            && pipe_of(id) == pipe_of(other.id) && syncs == other.syncs;
    }
};

struct GmSpan {
    uint64_t end;
    std::vector<GmRecord> records;
};

struct GmRows {
    uint64_t base = 0;  // offset in the buffer
    uint32_t rows = 1;
    uint64_t bytes = 0, step = 0;
};

struct PendingRead {
    GmRows rows;
    GmRecord record;
};

// One byte of undefined bits for each byte of an array, in the caller's memory so that it outlives the launch.
class UndefinedBits {
public:
    UndefinedBits() = default;
    UndefinedBits(uint8_t* bits, uint64_t size) : bits_(bits), size_(bits ? size : 0) {}
    bool empty() const { return size_ == 0; }
    uint8_t* data() const { return bits_; }
    uint8_t operator[](uint64_t i) const { return bits_[i]; }

private:
    uint8_t* bits_ = nullptr;
    uint64_t size_ = 0;
};

struct GmBuffer {
    std::string name;
    uint8_t* base = nullptr;
    uint64_t size = 0;
    bool writable = true;
    UndefinedBits undefined;  // empty: everything is defined
    uint8_t* unwritten = nullptr;  // a byte for each byte, which a write clears; null: nothing has to be written
    std::map<uint64_t, GmSpan> spans;
    std::vector<PendingRead> reads;  // not yet in `spans`: a buffer nobody writes needs no history
    bool written = false;
    bool streamed() const { return size >= STREAMED_BYTES; }
};

// The buffer that holds [ptr, ptr + bytes), after checks against the arrays and the declared range; null if none.
GmBuffer* find_gm(const GmView& t, const uint8_t* ptr, uint64_t bytes, int pipe, Loc loc);

// Enters the access into the history and reports conflicts with unordered ones.
void touch_gm(GmBuffer& b, const GmRows& rows, GmRecord::Kind kind, OpId id, bool scalar, Loc loc);

// Stores rows of undefined bits into global memory: reported, then taken as defined so that it is told once.
void store_gm_row(GmBuffer& b, uint64_t offset, const uint8_t* data, const uint8_t* undefined, uint64_t bytes,
                  DType type, int pipe, Loc loc);
void load_gm_row(const GmBuffer& b, uint64_t offset, uint8_t* data, uint8_t* undefined, uint64_t bytes);

RemoteClock publish(const Clock& clock, int pipe);
void learn(const RemoteClock& other);

}  // namespace pyasc_model
