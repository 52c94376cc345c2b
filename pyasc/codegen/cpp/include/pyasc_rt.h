// SPDX-License-Identifier: Apache-2.0
// What every kernel generated for the cpu device includes.
#ifndef PYASC_RT_H
#define PYASC_RT_H

#include "pyasc_abi.h"
#include "pyasc_num.h"
#include "pyasc_half.h"
#include "pyasc_buffer.h"
#include "pyasc_loops.h"
#include "pyasc_math.h"
#include "pyasc_special.h"
#include "pyasc_tile.h"
#include "pyasc_trig.h"
#include "pyasc_vec.h"
#include "pyasc_vmath.h"

#endif
