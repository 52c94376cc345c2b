/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between a compiled kernel and whatever calls it. Valid C11 and C++17.
 *
 * A kernel returns 0, or the 1-based number of the check site that failed; the values that failed the
 * check are then in fault->values, unless the caller passed no fault record.
 *
 * Parallel loops go through pa_parallel. It hands the loop to pyasc_parallel when the process has one
 * (libpyasc_threads.so, loaded globally before the kernel, or any other definition linked into the
 * program) and runs it in the calling thread otherwise. The body always sees the chunks
 * [k*grain, min(n, (k+1)*grain)), each exactly once, so what it computes per chunk does not depend on
 * the number of threads.
 */
#ifndef PYASC_ABI_H
#define PYASC_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PYASC_FAULT_DEFINED
#define PYASC_FAULT_DEFINED
typedef struct pyasc_fault {
  int64_t values[4];
} pyasc_fault;
#endif

/* Computes the iterations [begin, end); may run on any thread. */
typedef void (*pyasc_body)(void* ctx, int64_t begin, int64_t end);

/* Default visibility is spelled out: -fvisibility=hidden would bind a hidden weak reference to null. */
__attribute__((weak, visibility("default"))) void pyasc_parallel(int64_t n, pyasc_body body, void* ctx,
                                                                 int64_t grain);

#ifdef __cplusplus
}
#endif

/* Runs body over [0, n) in chunks of grain iterations (at least 1) and returns when all are done. */
static inline void pa_parallel(int64_t n, pyasc_body body, void* ctx, int64_t grain) {
  if (grain < 1) grain = 1;
  /* g++ 12 takes some loops that store for pure, and leaves out calls of what it knows. */
  __asm__("" : "+r"(body));
  if (n > grain && pyasc_parallel) {
    pyasc_parallel(n, body, ctx, grain);
    return;
  }
  for (int64_t begin = 0; begin < n;) {
    int64_t end = n - begin > grain ? begin + grain : n;
    body(ctx, begin, end);
    begin = end;
  }
}

#endif
