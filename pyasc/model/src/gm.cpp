// SPDX-License-Identifier: Apache-2.0
// Bounds, contents and access history of global memory.
#include "gm.h"

#include <string.h>

#include <algorithm>
#include <iterator>

#include "bulk.h"
#include "half.h"

namespace pyasc_model {

GmBuffer* find_gm(const GmView& t, const uint8_t* ptr, uint64_t bytes, int pipe, Loc loc)
{
    for (auto& b : launch->buffers) {
        if (ptr >= b->base && ptr < b->base + b->size + (b->size == 0)) {
            if (ptr + bytes > b->base + b->size) {
                break;
            }
            if (t.end != nullptr && (ptr < t.begin || ptr + bytes > t.end)) {
                report("gm-bounds", loc, pipe, b->name.c_str(), ptr - b->base, ptr - b->base + bytes,
                       "access leaves the range declared by SetGlobalBuffer ([%lld, %lld) of %s)",
                       static_cast<long long>(t.begin - b->base), static_cast<long long>(t.end - b->base),
                       b->name.c_str());
            }
            return b.get();
        }
    }
    // Named by the array the tensor was made from, or the nearest one.
    const GmBuffer* near = nullptr;
    for (auto& b : launch->buffers) {
        const bool declared = t.begin >= b->base && t.begin <= b->base + b->size;
        if (declared || near == nullptr) {
            near = declared || near == nullptr ? b.get() : near;
        }
    }
    const long long from = near ? ptr - near->base : 0;
    report("gm-bounds", loc, pipe, near ? near->name.c_str() : "GM", static_cast<uint64_t>(from),
           static_cast<uint64_t>(from) + bytes, "bytes [%lld, %lld) are outside array %s of %llu bytes", from,
           from + static_cast<long long>(bytes), near ? near->name.c_str() : "(none)",
           near ? static_cast<unsigned long long>(near->size) : 0ull);
    return nullptr;
}

namespace {

bool ordered(const GmRecord& r)
{
    if (r.core == core->index + (core->cube ? 4096 : 0)) {
        return r.id <= core->now_seen[pipe_of(r.id)];
    }
    if (!core->remote) {
        return false;
    }
    const size_t at = (r.core & 4095) * 8 + pipe_of(r.id) + (r.core >= 4096 ? core->remote->size() / 2 : 0);
    return at < core->remote->size() && (*core->remote)[at] >= r.id;
}

uint16_t core_number() { return static_cast<uint16_t>(core->index + (core->cube ? 4096 : 0)); }

bool conflicts(const GmRecord& old, const GmRecord& now)
{
    if (old.kind == GmRecord::READ && now.kind == GmRecord::READ) {
        return false;
    }
    if (old.kind == GmRecord::ATOMIC && now.kind == GmRecord::ATOMIC && old.atomic == now.atomic) {
        return false;
    }
    return !(old.core == now.core && old.id == now.id) && !ordered(old);
}

void tell(const GmBuffer& b, const GmRecord& old, const GmRecord& now, uint64_t low, uint64_t high, Loc loc)
{
    const bool same = old.core == now.core;
    const std::string other = (old.core >= 4096 ? "AIC " : "AIV ") + std::to_string(old.core & 4095);
    report(same ? "race" : "core-race", loc, pipe_of(now.id), b.name.c_str(), low, high,
           "%s of global memory without synchronisation with the %s on %s %s at line %d",
           now.kind == GmRecord::READ ? "read" : "write", old.kind == GmRecord::READ ? "read" : "write",
           same ? "this core's" : other.c_str(), PIPE_NAMES[pipe_of(old.id)], old.line);
}

void keep(std::vector<GmRecord>& records, const GmRecord& now)
{
    if (now.kind == GmRecord::WRITE) {
        records.assign(1, now);
        return;
    }
    for (GmRecord& r : records) {
        if (r.kind == now.kind && r.core == now.core && pipe_of(r.id) == pipe_of(now.id)) {
            r = now;
            return;
        }
    }
    records.push_back(now);
}

void split_at(std::map<uint64_t, GmSpan>& spans, uint64_t at)
{
    auto it = spans.upper_bound(at);
    if (it == spans.begin()) {
        return;
    }
    --it;
    if (it->first < at && at < it->second.end) {
        GmSpan rest{it->second.end, it->second.records};
        it->second.end = at;
        spans.emplace(at, std::move(rest));
    }
}

// The access continues the span: one history serves both.
bool goes_on(const GmSpan& span, uint64_t at, const GmRecord& now)
{
    return span.end == at && span.records.size() == 1 && span.records[0].alike(now);
}

void touch_row(GmBuffer& b, uint64_t low, uint64_t high, const GmRecord& now, Loc loc)
{
    split_at(b.spans, low);
    split_at(b.spans, high);
    uint64_t at = low;
    auto it = b.spans.lower_bound(low);
    while (at < high) {
        if (it == b.spans.end() || it->first > at) {
            const uint64_t end = it == b.spans.end() ? high : std::min(high, it->first);
            const auto before = it == b.spans.begin() ? b.spans.end() : std::prev(it);
            if (before != b.spans.end() && goes_on(before->second, at, now)) {
                before->second.end = end;
                before->second.records[0] = now;
                it = before;
            } else {
                it = b.spans.emplace_hint(it, at, GmSpan{end, {now}});
            }
        } else {
            for (const GmRecord& old : it->second.records) {
                if (conflicts(old, now)) {
                    tell(b, old, now, it->first, it->second.end, loc);
                    break;
                }
            }
            keep(it->second.records, now);
        }
        at = it->second.end;
        ++it;
    }
}

// Two writers of one 64-byte line through a data cache corrupt each other even where their bytes differ.
void check_line(GmBuffer& b, uint64_t at, const GmRecord& now, Loc loc)
{
    const uint64_t absolute = reinterpret_cast<uint64_t>(b.base) + at;
    const uint64_t back = absolute & 63;
    const uint64_t low = at > back ? at - back : 0, high = at - back + 64;
    auto it = b.spans.upper_bound(low);
    if (it != b.spans.begin()) {
        --it;
    }
    for (; it != b.spans.end() && it->first < high; ++it) {
        if (it->second.end <= low) {
            continue;
        }
        for (const GmRecord& old : it->second.records) {
            if (old.kind != GmRecord::READ && old.core != now.core && (old.scalar || now.scalar) && !ordered(old)) {
                report("cache-line", loc, pipe_of(now.id), b.name.c_str(), low, high,
                       "two cores write one 64-byte line, one through its data cache (other write at line %d)",
                       old.line);
                return;
            }
        }
    }
}

// Keeps a read for later, as part of the one before when it goes on where that ended.
void defer_read(GmBuffer& b, const GmRows& rows, const GmRecord& now)
{
    if (!b.reads.empty() && rows.rows == 1) {
        PendingRead& last = b.reads.back();
        const bool adjacent = last.rows.rows == 1 && last.rows.base + last.rows.bytes == rows.base;
        if (adjacent && last.record.alike(now)) {
            last.rows.bytes += rows.bytes;
            last.record = now;
            return;
        }
    }
    b.reads.push_back({rows, now});
}

void replay_reads(GmBuffer& b)
{
    for (const PendingRead& p : b.reads) {
        for (uint32_t i = 0; i < p.rows.rows; ++i) {
            const uint64_t low = p.rows.base + i * p.rows.step;
            touch_row(b, low, low + p.rows.bytes, p.record, {"", 0});
        }
    }
    b.reads.clear();
}

}  // namespace

void touch_gm(GmBuffer& b, const GmRows& rows, GmRecord::Kind kind, OpId id, bool scalar, Loc loc)
{
    if (!launch->check || rows.bytes == 0) {
        return;
    }
    const GmRecord now{kind, scalar, core->atomic, core_number(), id, loc.line, ++launch->gm_stamp, core->syncs};
    if (kind == GmRecord::READ && !b.written) {
        defer_read(b, rows, now);
        return;
    }
    if (!b.written) {
        b.written = true;
        replay_reads(b);
    }
    launch->scalar_gm_writes |= scalar && kind != GmRecord::READ;
    const bool packed = rows.step == rows.bytes;
    const uint32_t count = packed ? 1 : rows.rows;
    const uint64_t bytes = packed ? rows.bytes * rows.rows : rows.bytes;
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t low = rows.base + i * rows.step;
        if (launch->scalar_gm_writes && kind != GmRecord::READ) {
            check_line(b, low, now, loc);
            check_line(b, low + bytes - 1, now, loc);
        }
        touch_row(b, low, low + bytes, now, loc);
    }
}

namespace {

template <typename T, typename F>
void combine(uint8_t* out, const uint8_t* in, uint64_t bytes, F f)
{
    for (uint64_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
        T a, b;
        memcpy(&a, out + i, sizeof(T));
        memcpy(&b, in + i, sizeof(T));
        a = f(a, b);
        memcpy(out + i, &a, sizeof(T));
    }
}

template <typename T, typename Wide, Wide (*WIDEN)(T), T (*NARROW)(Wide)>
void combine_as(Atomic kind, uint8_t* out, const uint8_t* in, uint64_t bytes)
{
    combine<T>(out, in, bytes, [kind](T a, T b) {
        const Wide x = WIDEN(a), y = WIDEN(b);
        return NARROW(kind == Atomic::ADD ? x + y : kind == Atomic::MAX ? (x > y ? x : y) : (x < y ? x : y));
    });
}

template <typename T> T same(T v) { return v; }
int32_t widen8(int8_t v) { return v; }
int8_t narrow8(int32_t v) { return static_cast<int8_t>(v); }
int32_t widen16(int16_t v) { return v; }
int16_t narrow16(int32_t v) { return static_cast<int16_t>(v); }

void atomic_row(uint8_t* out, const uint8_t* in, uint64_t bytes, Loc loc)
{
    const Atomic k = core->atomic;
    switch (core->atomic_type) {
    case DType::F32: combine_as<float, float, same<float>, same<float>>(k, out, in, bytes); break;
    case DType::F16: combine_as<uint16_t, float, half_value, half_bits>(k, out, in, bytes); break;
    case DType::BF16: combine_as<uint16_t, float, bfloat16_value, bfloat16_bits>(k, out, in, bytes); break;
    case DType::I32: combine_as<uint32_t, uint32_t, same<uint32_t>, same<uint32_t>>(k, out, in, bytes); break;
    case DType::I16: combine_as<int16_t, int32_t, widen16, narrow16>(k, out, in, bytes); break;
    case DType::I8: combine_as<int8_t, int32_t, widen8, narrow8>(k, out, in, bytes); break;
    default: report("dtype", loc, PIPE_MTE3, nullptr, 0, 0, "atomics take int8, int16, half, bfloat16, int32, float");
    }
}

bool any(const uint8_t* p, uint64_t n)
{
    return n != 0 && (p[0] != 0 || memcmp(p, p + 1, n - 1) != 0);
}

}  // namespace

void store_gm_row(GmBuffer& b, uint64_t offset, const uint8_t* data, const uint8_t* undefined, uint64_t bytes,
                  DType type, int pipe, Loc loc)
{
    if (!b.writable) {
        report("gm-bounds", loc, pipe, b.name.c_str(), offset, offset + bytes, "array %s is read-only",
               b.name.c_str());
        return;
    }
    if (undefined != nullptr && any(undefined, bytes)) {
        uint64_t first = 0;
        while (undefined[first] == 0) {
            ++first;
        }
        report("undefined", loc, pipe, b.name.c_str(), offset + first, offset + bytes,
               "a value that was never written reaches global memory (element %llu of %s)",
               static_cast<unsigned long long>((offset + first) / dtype_bytes(type)), b.name.c_str());
    }
    if (core->atomic != Atomic::NONE) {
        if (core->atomic_type != type) {
            report("parameter", loc, pipe, b.name.c_str(), offset, offset + bytes,
                   "the atomic mode was set for another type than the one copied");
        }
        if (!b.undefined.empty() && any(b.undefined.data() + offset, bytes)) {
            report("undefined", loc, pipe, b.name.c_str(), offset, offset + bytes,
                   "an atomic update of global memory that was never written (it is not zeroed for the kernel)");
        }
        atomic_row(b.base + offset, data, bytes, loc);
    } else {
        (b.streamed() ? copy_streamed : copy_far)(b.base + offset, data, bytes);
    }
    if (!b.undefined.empty()) {
        memset(b.undefined.data() + offset, 0, bytes);
    }
    if (b.unwritten != nullptr) {
        memset(b.unwritten + offset, 0, bytes);
    }
}

void load_gm_row(const GmBuffer& b, uint64_t offset, uint8_t* data, uint8_t* undefined, uint64_t bytes)
{
    copy_near(data, b.base + offset, bytes);
    if (undefined != nullptr) {
        if (b.undefined.empty()) {
            memset(undefined, 0, bytes);
        } else {
            memcpy(undefined, b.undefined.data() + offset, bytes);
        }
    }
}

RemoteClock publish(const Clock& clock, int pipe)
{
    const size_t half_size = (launch->cores.size() + 1) * 8;
    auto v = std::make_shared<std::vector<OpId>>(half_size * 2, 0);
    if (core->remote) {
        *v = *core->remote;
    }
    OpId* own = v->data() + core->index * 8 + (core->cube ? half_size : 0);
    for (int p = 0; p < PIPES; ++p) {
        own[p] = std::max(own[p], clock.seen[p]);
    }
    if (pipe < PIPES) {
        own[pipe] = std::max(own[pipe], core->last[pipe]);
    }
    return v;
}

void learn(const RemoteClock& other)
{
    if (!other) {
        return;
    }
    if (!core->remote) {
        core->remote = other;
        return;
    }
    auto v = std::make_shared<std::vector<OpId>>(*core->remote);
    for (size_t i = 0; i < v->size(); ++i) {
        (*v)[i] = std::max((*v)[i], (*other)[i]);
    }
    core->remote = v;
}

}  // namespace pyasc_model
