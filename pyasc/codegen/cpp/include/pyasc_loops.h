// SPDX-License-Identifier: Apache-2.0
// What loops need beyond arithmetic: reductions that OpenMP does not name, atomics, rounding, debug prints.
#ifndef PYASC_LOOPS_H
#define PYASC_LOOPS_H

#include "pyasc_half.h"

// Combining a value with itself changes nothing here, so every lane may start from the original.
#define PA_REDUCTION(fn)                                                                                     \
  PA_PRAGMA(omp declare reduction(fn : float, double, bool, int8_t, int16_t, int32_t, int64_t, uint8_t,      \
                                  uint16_t, uint32_t, uint64_t : omp_out = fn(omp_out, omp_in))              \
                initializer(omp_priv = omp_orig))
#define PA_PRAGMA(text) _Pragma(#text)
PA_REDUCTION(pa_maximum)
PA_REDUCTION(pa_minimum)
PA_REDUCTION(pa_pymax)
PA_REDUCTION(pa_pymin)

// A half as the float it stands for after rounding.
PA_FN float pa_round_f16(float x) { return pa_f16_to_f32(pa_f32_to_f16(x)); }
PA_FN float pa_round_bf16(float x) { return pa_bf16_to_f32(pa_f32_to_bf16(x)); }

// What an element in memory is computed as.
template <class T> struct pa_computed { typedef T type; };
template <> struct pa_computed<pyasc_f16> { typedef float type; };
template <> struct pa_computed<pyasc_bf16> { typedef float type; };
template <class T> using pa_value_of = typename pa_computed<T>::type;

// One indivisible step: the element is replaced once nobody else has changed it meanwhile.
template <class T, class Combine> static inline void pa_atomic_update(T* element, Combine combine) {
  T old, fresh;
  __atomic_load(element, &old, __ATOMIC_RELAXED);
  do {
    pa_put(&fresh, combine(pa_get(&old)));
  } while (!__atomic_compare_exchange(element, &old, &fresh, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
template <class T> static inline void pa_atomic_add(T* element, pa_value_of<T> value) {
  typedef pa_value_of<T> V;
  if constexpr (pa_kind<T>::value == 0)
    __atomic_fetch_add(element, value, __ATOMIC_RELAXED);
  else
    pa_atomic_update(element, [=](V old) { return V(old + value); });
}
template <class T> static inline void pa_atomic_maximum(T* element, pa_value_of<T> value) {
  pa_atomic_update(element, [=](pa_value_of<T> old) { return pa_maximum(old, value); });
}
template <class T> static inline void pa_atomic_minimum(T* element, pa_value_of<T> value) {
  pa_atomic_update(element, [=](pa_value_of<T> old) { return pa_minimum(old, value); });
}

// Debug prints go to whoever defines pyasc_print: number is the print's place in the kernel, bits hold integers
// as they are and floats as doubles.
extern "C" __attribute__((weak, visibility("default"))) void pyasc_print(const char* kernel, int32_t number,
                                                                         const int64_t* bits, int32_t count);
template <class T> PA_FN int64_t pa_print_value(T x) {
  if constexpr (pa_kind<T>::value == 2)
    return pa_bits<int64_t>((double)x);
  else
    return (int64_t)x;
}
template <class... Bits> static inline void pa_print(const char* kernel, int32_t number, Bits... bits) {
  const int64_t values[] = {bits..., 0};
  if (pyasc_print) pyasc_print(kernel, number, values, (int32_t)sizeof...(bits));
}

#endif
