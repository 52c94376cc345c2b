// SPDX-License-Identifier: Apache-2.0
// TPipe, TQue, TQueBind and TBuf.
#pragma once
#include "tensor.h"

namespace AscendC {

template <TPosition SRC, TPosition DST, int32_t DEPTH, auto MASK = 0>
class TQueBind {
public:
    template <typename T>
    LocalTensor<T> AllocTensor(PYASC_LOC)
    {
        return LocalTensor<T>(pyasc_model::queue_alloc(id, DTypeOf<T>::value, loc));
    }
    template <typename T>
    void AllocTensor(LocalTensor<T>& t, PYASC_LOC)
    {
        static_assert(DEPTH == 0, "AllocTensor(tensor) is for queues of depth 0");
        t = AllocTensor<T>(loc);
    }
    template <typename T>
    void FreeTensor(LocalTensor<T>& t, PYASC_LOC)
    {
        pyasc_model::queue_free(id, t.view, loc);
    }
    template <typename T>
    bool EnQue(const LocalTensor<T>& t, PYASC_LOC)
    {
        pyasc_model::queue_enque(id, t.view, loc);
        return true;
    }
    template <typename T>
    LocalTensor<T> DeQue(PYASC_LOC)
    {
        return LocalTensor<T>(pyasc_model::queue_deque(id, DTypeOf<T>::value, loc));
    }
    template <typename T>
    void DeQue(LocalTensor<T>& t, PYASC_LOC)
    {
        static_assert(DEPTH == 0, "DeQue(tensor) is for queues of depth 0");
        t = DeQue<T>(loc);
    }
    bool VacantInQue() const { return pyasc_model::queue_length(id) < (DEPTH == 0 ? 1 : DEPTH); }
    bool HasTensorInQue() const { return pyasc_model::queue_length(id) > 0; }
    int32_t GetTensorCountInQue() const { return pyasc_model::queue_length(id); }
    bool HasIdleBuffer() const { return pyasc_model::queue_free_buffers(id) > 0; }
    void FreeAllEvent() {}

    int id = -1;
};

template <TPosition POS, int32_t DEPTH, auto MASK = 0>
class TQue : public TQueBind<POS, TPosition::MAX, DEPTH, MASK> {};

template <TPosition POS = TPosition::LCM>
class TBuf {
public:
    template <typename T>
    LocalTensor<T> Get() const
    {
        return LocalTensor<T>(view);
    }
    template <typename T>
    LocalTensor<T> Get(uint32_t count) const
    {
        LocalTensor<T> t(view);
        t.SetSize(count);
        return t;
    }
    template <typename T>
    LocalTensor<T> GetWithOffset(uint32_t count, uint32_t byteOffset) const
    {
        LocalTensor<T> t(view);
        t.view.addr += byteOffset;
        t.SetSize(count);
        return t;
    }

    View view;
};

class TPipe {
public:
    TPipe(PYASC_LOC) { pyasc_model::pipe_open(this, loc); }
    ~TPipe() { pyasc_model::pipe_close(); }
    TPipe(const TPipe&) = delete;
    TPipe& operator=(const TPipe&) = delete;

    template <TPosition SRC, TPosition DST, int32_t DEPTH, auto MASK>
    bool InitBuffer(TQueBind<SRC, DST, DEPTH, MASK>& que, uint8_t num, uint32_t bytes, PYASC_LOC)
    {
        que.id = pyasc_model::queue_init(SRC, DST, DEPTH, num, bytes, loc);
        return true;
    }
    template <TPosition POS>
    bool InitBuffer(TBuf<POS>& buf, uint32_t bytes, PYASC_LOC)
    {
        buf.view = pyasc_model::buffer_init(POS, bytes, loc);
        return true;
    }
    void Init(PYASC_LOC) { pyasc_model::pipe_open(this, loc); }
    void Reset(PYASC_LOC) { pyasc_model::pipe_reset(loc); }
    void Destroy() { pyasc_model::pipe_close(); }
    template <HardEvent EVENT>
    TEventID AllocEventID(PYASC_LOC)
    {
        return static_cast<TEventID>(pyasc_model::event_take(static_cast<int>(EVENT), loc));
    }
    template <HardEvent EVENT>
    void ReleaseEventID(TEventID id, PYASC_LOC)
    {
        pyasc_model::event_give_back(static_cast<int>(EVENT), id, loc);
    }
    template <HardEvent EVENT>
    TEventID FetchEventID(PYASC_LOC)
    {
        return static_cast<TEventID>(pyasc_model::event_peek(static_cast<int>(EVENT), loc));
    }
    TEventID FetchEventID(HardEvent event, PYASC_LOC)
    {
        return static_cast<TEventID>(pyasc_model::event_peek(static_cast<int>(event), loc));
    }
};

inline TPipe* GetTPipePtr(PYASC_LOC) { return static_cast<TPipe*>(pyasc_model::current_pipe(loc)); }

}  // namespace AscendC
