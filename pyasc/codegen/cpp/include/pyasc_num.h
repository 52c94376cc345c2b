// SPDX-License-Identifier: Apache-2.0
// Scalar semantics of the kernel language: Python's signs for // and %, wrapping integers,
// saturating float-to-integer casts, NumPy's minimum, maximum, sign and shifts.
// Free of branches and calls wherever an expression allows it, so that simd loops vectorise.
#ifndef PYASC_NUM_H
#define PYASC_NUM_H

#include <stdint.h>

#define PA_ALWAYS inline __attribute__((always_inline))
#define PA_FN static PA_ALWAYS
#define PA_LIKELY(c) __builtin_expect(!!(c), 1)

// Several compilers contract to fma only where asked; the macro of each is different.
#if defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__FMA4__) || defined(__ARM_FEATURE_FMA)
#define PA_HAS_FMA 1
#else
#define PA_HAS_FMA 0
#endif

template <int bytes> struct pa_int_of_size;
template <> struct pa_int_of_size<1> { typedef int8_t s; typedef uint8_t u; typedef uint32_t wide; };
template <> struct pa_int_of_size<2> { typedef int16_t s; typedef uint16_t u; typedef uint32_t wide; };
template <> struct pa_int_of_size<4> { typedef int32_t s; typedef uint32_t u; typedef uint32_t wide; };
template <> struct pa_int_of_size<8> { typedef int64_t s; typedef uint64_t u; typedef uint64_t wide; };

// Facts of an integer type. `wide` is the unsigned type arithmetic is done in: never narrower than
// int, so that no promotion to a signed type (whose overflow is undefined) can happen.
template <class T> struct pa_int {
  typedef typename pa_int_of_size<sizeof(T)>::u unsigned_type;
  typedef typename pa_int_of_size<sizeof(T)>::wide wide;
  static constexpr int bits = 8 * (int)sizeof(T);
  static constexpr bool is_signed = T(-1) < T(0);
  static constexpr T max = (T)(((uint64_t)-1) >> (64 - bits + (is_signed ? 1 : 0)));
  static constexpr T min = is_signed ? (T)(-(int64_t)max - 1) : (T)0;
};

// 0 integer, 1 bool, 2 floating point; the half types of pyasc_half.h add 3.
template <class T> struct pa_kind { static constexpr int value = 0; };
template <> struct pa_kind<bool> { static constexpr int value = 1; };
template <> struct pa_kind<float> { static constexpr int value = 2; };
template <> struct pa_kind<double> { static constexpr int value = 2; };

template <class To, class From> PA_FN To pa_bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "pa_bits keeps the size");
  To r;
  __builtin_memcpy(&r, &x, sizeof(To));
  return r;
}

template <class T> PA_FN T pa_add(T a, T b) {
  typedef typename pa_int<T>::wide W;
  return (T)((W)a + (W)b);
}
template <class T> PA_FN T pa_sub(T a, T b) {
  typedef typename pa_int<T>::wide W;
  return (T)((W)a - (W)b);
}
template <class T> PA_FN T pa_mul(T a, T b) {
  typedef typename pa_int<T>::wide W;
  return (T)((W)a * (W)b);
}
template <class T> PA_FN T pa_neg(T a) {
  typedef typename pa_int<T>::wide W;
  return (T)((W)0 - (W)a);
}
template <class T> PA_FN T pa_abs(T a) { return a < T(0) ? pa_neg(a) : a; }
template <class T> PA_FN T pa_sign(T a) { return (T)((a > T(0)) - (a < T(0))); }

PA_FN float pa_add(float a, float b) { return a + b; }
PA_FN float pa_sub(float a, float b) { return a - b; }
PA_FN float pa_mul(float a, float b) { return a * b; }
PA_FN float pa_neg(float a) { return -a; }
PA_FN float pa_abs(float a) { return __builtin_fabsf(a); }
PA_FN double pa_add(double a, double b) { return a + b; }
PA_FN double pa_sub(double a, double b) { return a - b; }
PA_FN double pa_mul(double a, double b) { return a * b; }
PA_FN double pa_neg(double a) { return -a; }
PA_FN double pa_abs(double a) { return __builtin_fabs(a); }

// NumPy's sign: NaN stays NaN, both zeros give +0.
PA_FN float pa_sign(float a) { return a != a ? a : (float)((a > 0.0f) - (a < 0.0f)); }
PA_FN double pa_sign(double a) { return a != a ? a : (double)((a > 0.0) - (a < 0.0)); }

// x // 0 is 0; MIN // -1 wraps. The divisors 0 and -1 are replaced before dividing since the
// hardware traps on both.
template <class T> PA_FN T pa_floordiv(T a, T b) {
  if constexpr (pa_int<T>::is_signed) {
    const bool minus_one = b == T(-1);
    const T d = ((b == T(0)) | minus_one) ? T(1) : b;
    const T q = (T)(a / d);
    const T r = (T)(a - q * d);
    const T floored = (T)(q - (T)((r != T(0)) & ((r < T(0)) != (d < T(0)))));
    return b == T(0) ? T(0) : (minus_one ? pa_neg(a) : floored);
  } else {
    const T d = b == T(0) ? T(1) : b;
    return b == T(0) ? T(0) : (T)(a / d);
  }
}

// x % 0 is 0; otherwise the sign of the divisor, as in Python.
template <class T> PA_FN T pa_mod(T a, T b) {
  if constexpr (pa_int<T>::is_signed) {
    const bool trivial = (b == T(0)) | (b == T(-1));
    const T d = trivial ? T(1) : b;
    const T r = (T)(a % d);
    const bool wrong_sign = (r != T(0)) & ((r < T(0)) != (d < T(0)));
    const T floored = wrong_sign ? (T)(r + d) : r;
    return trivial ? T(0) : floored;
  } else {
    const T d = b == T(0) ? T(1) : b;
    return b == T(0) ? T(0) : (T)(a % d);
  }
}

// C's remainder (sign of the dividend), which is NumPy's fmod; by zero it is 0.
template <class T> PA_FN T pa_fmod(T a, T b) {
  if constexpr (pa_int<T>::is_signed) {
    const bool trivial = (b == T(0)) | (b == T(-1));
    return trivial ? T(0) : (T)(a % (trivial ? T(1) : b));
  } else {
    return b == T(0) ? T(0) : (T)(a % (b == T(0) ? T(1) : b));
  }
}

// Integer power, wrapping. The frontend refuses negative exponents; here they give 0.
template <class T> static inline T pa_pow(T base, T exponent) {
  typedef typename pa_int<T>::wide W;
  if (exponent < T(0)) return T(0);
  W result = 1, square = (W)base;
  for (typename pa_int<T>::unsigned_type e = (typename pa_int<T>::unsigned_type)exponent; e != 0; e >>= 1) {
    if (e & 1) result *= square;
    square *= square;
  }
  return (T)result;
}

// A count outside [0, bits) shifts everything out: 0, or -1 for a negative value going right.
template <class T> PA_FN T pa_shl(T a, T count) {
  typedef typename pa_int<T>::wide W;
  const bool inside = (W)(typename pa_int<T>::unsigned_type)count < (W)pa_int<T>::bits;
  return inside ? (T)((W)a << (inside ? (int)count : 0)) : T(0);
}
template <class T> PA_FN T pa_shr(T a, T count) {
  typedef typename pa_int<T>::wide W;
  const bool inside = (W)(typename pa_int<T>::unsigned_type)count < (W)pa_int<T>::bits;
  const T shifted = (T)(a >> (inside ? (int)count : pa_int<T>::bits - 1));
  return (inside | pa_int<T>::is_signed) ? shifted : T(0);
}

// g++ 12 forgets about NaN where a choice between truth values tests one comparison twice.
PA_FN bool pa_select(bool condition, bool a, bool b) { return (condition & a) | (!condition & b); }

// Python's builtins: the first argument wins unless the second is strictly smaller (larger).
template <class T> PA_FN T pa_pymin(T a, T b) { return b < a ? b : a; }
template <class T> PA_FN T pa_pymax(T a, T b) { return b > a ? b : a; }

// NumPy's: NaN wins. Of two zeros with different signs the second is returned.
template <class T> PA_FN T pa_minimum(T a, T b) { return a < b ? a : b; }
template <class T> PA_FN T pa_maximum(T a, T b) { return a > b ? a : b; }
PA_FN float pa_minimum(float a, float b) { return ((a < b) | (a != a)) ? a : b; }
PA_FN float pa_maximum(float a, float b) { return ((a > b) | (a != a)) ? a : b; }
PA_FN double pa_minimum(double a, double b) { return ((a < b) | (a != a)) ? a : b; }
PA_FN double pa_maximum(double a, double b) { return ((a > b) | (a != a)) ? a : b; }

// NumPy's fmin and fmax: a number wins over NaN.
PA_FN float pa_fmin(float a, float b) { return ((a < b) | (b != b)) ? a : b; }
PA_FN float pa_fmax(float a, float b) { return ((a > b) | (b != b)) ? a : b; }
PA_FN double pa_fmin(double a, double b) { return ((a < b) | (b != b)) ? a : b; }
PA_FN double pa_fmax(double a, double b) { return ((a > b) | (b != b)) ? a : b; }

// The neutral elements of minimum and maximum.
template <class T> PA_FN T pa_highest() {
  if constexpr (pa_kind<T>::value == 2) return T(__builtin_inff());
  else return pa_int<T>::max;
}
template <class T> PA_FN T pa_lowest() {
  if constexpr (pa_kind<T>::value == 2) return T(-__builtin_inff());
  else return pa_int<T>::min;
}

// numpy.clip: minimum(maximum(x, low), high).
template <class T> PA_FN T pa_clip(T x, T low, T high) { return pa_minimum(pa_maximum(x, low), high); }

PA_FN float pa_rint(float x) { return __builtin_rintf(x); }
PA_FN float pa_floor(float x) { return __builtin_floorf(x); }
PA_FN float pa_ceil(float x) { return __builtin_ceilf(x); }
PA_FN float pa_trunc(float x) { return __builtin_truncf(x); }
PA_FN float pa_copysign(float x, float y) { return __builtin_copysignf(x, y); }
PA_FN bool pa_isnan(float x) { return x != x; }
PA_FN bool pa_isinf(float x) { return __builtin_fabsf(x) == __builtin_inff(); }
PA_FN bool pa_isfinite(float x) { return __builtin_fabsf(x) < __builtin_inff(); }
PA_FN bool pa_signbit(float x) { return pa_bits<int32_t>(x) < 0; }

PA_FN double pa_rint(double x) { return __builtin_rint(x); }
PA_FN double pa_floor(double x) { return __builtin_floor(x); }
PA_FN double pa_ceil(double x) { return __builtin_ceil(x); }
PA_FN double pa_trunc(double x) { return __builtin_trunc(x); }
PA_FN double pa_copysign(double x, double y) { return __builtin_copysign(x, y); }
PA_FN bool pa_isnan(double x) { return x != x; }
PA_FN bool pa_isinf(double x) { return __builtin_fabs(x) == __builtin_inf(); }
PA_FN bool pa_isfinite(double x) { return __builtin_fabs(x) < __builtin_inf(); }
PA_FN bool pa_signbit(double x) { return pa_bits<int64_t>(x) < 0; }

// When |a/b| < 2^27 the quotient truncated in double is the exact one (two float32 numbers whose
// quotient is not an integer keep 2^-24 away from every integer) and a - q*b is exact.
PA_FN float pa_fmod(float a, float b) {
  const double x = __builtin_fabs((double)a), y = __builtin_fabs((double)b);
  if (PA_LIKELY(x < y * 134217728.0)) {
    if (y == __builtin_inf()) return a;
    const double q = (double)(int64_t)(x / y);
    return __builtin_copysignf((float)(x - q * y), a);
  }
  return __builtin_fmodf(a, b);
}
PA_FN double pa_fmod(double a, double b) { return __builtin_fmod(a, b); }

// The pair (a // b, a % b) exactly as NumPy and CPython compute it: the remainder first, with the
// divisor's sign, then the quotient snapped to an integer, both zeros signed.
template <class T> struct pa_divmod_result { T div, mod; };

template <class T> PA_FN pa_divmod_result<T> pa_float_divmod(T a, T b) {
  T mod = pa_fmod(a, b);
  if (b == T(0)) return {a / b, mod};
  T div = (a - mod) / b;
  if (mod == T(0)) {
    mod = pa_copysign(T(0), b);
  } else if ((b < T(0)) != (mod < T(0))) {
    mod += b;
    div -= T(1);
  }
  if (div == T(0)) return {pa_copysign(T(0), a / b), mod};
  T whole = pa_floor(div);
  if (div - whole > T(0.5)) whole += T(1);
  return {whole, mod};
}
PA_FN float pa_floordiv(float a, float b) { return pa_float_divmod(a, b).div; }
PA_FN double pa_floordiv(double a, double b) { return pa_float_divmod(a, b).div; }
PA_FN float pa_mod(float a, float b) { return pa_float_divmod(a, b).mod; }
PA_FN double pa_mod(double a, double b) { return pa_float_divmod(a, b).mod; }

// a * b + c with one rounding: an instruction, or a slow library call on processors without it.
PA_FN float pa_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
PA_FN double pa_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

// a * b + c with one rounding where that is an instruction, else with two.
PA_FN float pa_mad(float a, float b, float c) {
#if PA_HAS_FMA
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
PA_FN double pa_mad(double a, double b, double c) {
#if PA_HAS_FMA
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// Float to integer truncates, saturates, and sends NaN to 0. `limit` is the first power of two
// that does not fit: exact in every float type, unlike the largest integer. Fractions are made 0 before
// they are converted, since g++ replaces (float)(int)x by trunc(x), which is -0.0 for a negative one.
template <class To, class From> PA_FN To pa_float_to_int(From x) {
  typedef pa_int<To> I;
  if constexpr (I::bits < 32) {
    const From low = (From)I::min, high = (From)I::max;
    From inside = x < low ? low : x;
    inside = inside > high ? high : inside;
    return (To)(int32_t)(pa_abs(x) >= From(1) ? inside : From(0));
  } else {
    const From limit = (From)(uint64_t(1) << (I::bits - 1)) * (I::is_signed ? From(1) : From(2));
    const From low = I::is_signed ? -limit : From(0);
    const bool fits = (x >= low) & (x < limit);
    const To inside = (To)((fits & (pa_abs(x) >= From(1))) ? x : From(0));
    return x >= limit ? I::max : (x < low ? I::min : inside);
  }
}

// The conversion of the language between any two element types: integers wrap when narrowed, floats
// round to nearest even, anything to bool is "not equal to zero".
template <class To, class From> struct pa_caster {
  PA_FN To cast(From x) {
    if constexpr (pa_kind<To>::value == 1) return x != From(0);
    else if constexpr (pa_kind<From>::value == 1) return x ? To(1) : To(0);  // a conversion would not vectorise
    else if constexpr (pa_kind<To>::value == 0 && pa_kind<From>::value == 2) return pa_float_to_int<To>(x);
    else return (To)x;
  }
};
template <class To, class From> PA_FN To pa_cast(From x) { return pa_caster<To, From>::cast(x); }

// An element as it is computed with, from memory and back: a half as float (pyasc_half.h), the rest as
// themselves. g++ does not vectorise a load of bool, hence the byte.
template <class T> PA_FN T pa_get(const T* from) { return *from; }
PA_FN bool pa_get(const bool* from) {
  uint8_t byte;
  __builtin_memcpy(&byte, from, 1);
  return byte != 0;
}
template <class T> PA_FN void pa_put(T* to, T value) { *to = value; }

#endif
