// SPDX-License-Identifier: Apache-2.0
// Tiles: rows and columns of vectors that stay in registers from one step of a sum to the next. Loops over them are
// written out by templates, since only an element whose place is a constant can be kept in a register.
#ifndef PYASC_TILE_H
#define PYASC_TILE_H

#include "pyasc_half.h"
#include "pyasc_vmath.h"

template <class V, int rows, int columns> struct pa_tile { V at[rows][columns]; };

template <class T> struct pa_tile_shape;
template <class V, int rows, int columns> struct pa_tile_shape<pa_tile<V, rows, columns>> { typedef V vector; };
template <class T> using pa_tile_vector = typename pa_tile_shape<T>::vector;

template <int number, class V, int rows, int columns>
PA_FN void pa_tile_fill_from(pa_tile<V, rows, columns>& tile, V value) {
  if constexpr (number < rows * columns) {
    tile.at[number / columns][number % columns] = value;
    pa_tile_fill_from<number + 1>(tile, value);
  }
}
template <class T> PA_FN T pa_tile_fill(pa_element<pa_tile_vector<T>> value) {
  T tile;
  pa_tile_fill_from<0>(tile, pa_broadcast<pa_tile_vector<T>>(value));
  return tile;
}

template <int n> using pa_columns = typename pa_make_lanes<n>::type;

// Vectors of one row lie at `from` or `to`, those of the next row `step` elements further.
template <int row, class V, int rows, int columns, class... P, int... column>
PA_FN void pa_tile_load_rows(pa_tile<V, rows, columns>& tile, pa_lane_list<column...> list, int64_t step,
                             const P*... from) {
  if constexpr (row < rows) {
    ((tile.at[row][column] = pa_load<V>(from + row * step)), ...);
    pa_tile_load_rows<row + 1>(tile, list, step, from...);
  }
}
template <class T, class... P> PA_FN T pa_tile_load(int64_t step, const P*... from) {
  T tile;
  pa_tile_load_rows<0>(tile, pa_columns<sizeof...(P)>(), step, from...);
  return tile;
}
template <int row, class V, int rows, int columns, class... P, int... column>
PA_FN void pa_tile_store_rows(const pa_tile<V, rows, columns>& tile, pa_lane_list<column...> list, int64_t step,
                              P*... to) {
  if constexpr (row < rows) {
    (pa_store(to + row * step, tile.at[row][column]), ...);
    pa_tile_store_rows<row + 1>(tile, list, step, to...);
  }
}
template <class V, int rows, int columns, class... P>
PA_FN void pa_tile_store(const pa_tile<V, rows, columns>& tile, int64_t step, P*... to) {
  pa_tile_store_rows<0>(tile, pa_columns<columns>(), step, to...);
}

// sum.at[r][c] += factors[r * step] * columns...[c], rounded as pa_v_fma does. Each factor is broadcast right before its
// use: compilers keep this order, and all at once would spill.
template <int row, class V, int rows, int columns, class T, class... X, int... column>
PA_FN void pa_tile_fma_rows(pa_tile<V, rows, columns>& sum, pa_lane_list<column...> list, const T* factors,
                            int64_t step, X... x) {
  if constexpr (row < rows) {
    const V factor = pa_broadcast<V>((pa_element<V>)pa_get(factors + row * step));
    ((sum.at[row][column] = pa_v_fma(factor, x, sum.at[row][column])), ...);
    pa_tile_fma_rows<row + 1>(sum, list, factors, step, x...);
  }
}
template <class V, int rows, int columns, class T, class... X>
PA_FN void pa_tile_fma(pa_tile<V, rows, columns>& sum, const T* factors, int64_t step, X... x) {
  pa_tile_fma_rows<0>(sum, pa_columns<columns>(), factors, step, x...);
}

#endif
