// SPDX-License-Identifier: Apache-2.0
// The interface of Ascend C for one core, on pyasc's model of it. Names that arch 2201 lacks are not declared.
#pragma once
#include "pyasc_model/cube.h"
#include "pyasc_model/math.h"
#include "pyasc_model/pipe.h"
#include "pyasc_model/system.h"
#include "pyasc_model/vector_arith.h"
#include "pyasc_model/vector_other.h"

namespace pyasc_model {

template <unsigned... I>
struct Indices {};
template <unsigned N, unsigned... I>
struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <unsigned... I>
struct MakeIndices<0, I...> { using type = Indices<I...>; };

template <typename T>
struct Plain { using type = T; };
template <typename T>
struct Plain<const T&> { using type = T; };
template <typename T>
struct Plain<T&> { using type = T; };

template <typename... A, unsigned... I>
inline void call_with(void (*kernel)(A...), const void* const* args, Indices<I...>)
{
    kernel(*static_cast<typename Plain<A>::type*>(const_cast<void*>(args[I]))...);
}
template <typename... A>
inline void call_kernel(void (*kernel)(A...), const void* const* args)
{
    call_with(kernel, args, typename MakeIndices<sizeof...(A)>::type());
}
template <typename... A>
inline uint32_t kernel_arguments(void (*)(A...), uint32_t* bytes)
{
    const uint32_t sizes[] = {sizeof(A)..., 0};
    for (uint32_t i = 0; bytes != nullptr && i < sizeof...(A); ++i) {
        bytes[i] = sizes[i];
    }
    return sizeof...(A);
}

}  // namespace pyasc_model

// Used by the driver's wrapper unit, never by a kernel.
#define PYASC_MODEL_EXPORT(NAME)                                                                                   \
    extern "C" __attribute__((visibility("default"))) void pyasc_model_call_##NAME(const void* const* args)         \
    {                                                                                                              \
        pyasc_model::call_kernel(::NAME, args);                                                                    \
    }                                                                                                              \
    extern "C" __attribute__((visibility("default"))) uint32_t pyasc_model_args_##NAME(uint32_t* bytes)             \
    {                                                                                                              \
        return pyasc_model::kernel_arguments(::NAME, bytes);                                                       \
    }
