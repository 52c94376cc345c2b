# SPDX-License-Identifier: Apache-2.0
"""Names in emitted C++, the one place that decides them: legal, unique, clear of other names, and readable.

Three rules, by what a name has to keep clear of:

- `identifier`: parameters, sizes and locals, which may hide functions but must be no keyword and no macro;
- `entry_name`: functions that other files see, which must be no function or object of the C library either, since one
  of these would take its place in the whole process, and no type or macro of the vendor's header;
- `VendorNames`: names inside of Ascend C, where the types and functions of the vendor's header are used as well.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default
    delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while
    xor xor_eq restrict""".split()
)
"""Of C++ and of C, since prototypes are read by both."""

_MACROS = frozenset(
    """linux unix i386 NULL EOF NAN INFINITY HUGE_VAL HUGE_VALF BUFSIZ RAND_MAX EXIT_SUCCESS EXIT_FAILURE
    errno stdin stdout stderr assert offsetof setjmp va_start va_arg va_end va_list
    M_E M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_LN2 M_LN10 M_LOG2E M_LOG10E M_SQRT2 M_SQRT1_2
    signbit isnan isinf isfinite isnormal fpclassify math_errhandling
    INT8_MIN INT16_MIN INT32_MIN INT64_MIN INT8_MAX INT16_MAX INT32_MAX INT64_MAX
    UINT8_MAX UINT16_MAX UINT32_MAX UINT64_MAX SIZE_MAX CHAR_BIT INT_MIN INT_MAX LONG_MIN LONG_MAX""".split()
)
"""Of compilers and of the C library, whichever of its headers come before a prototype."""

_TYPES = frozenset(
    """std size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t
    uintptr_t""".split()
)
"""What emitted C++ uses everywhere."""

_VARIABLES = frozenset("fault failure begin end data captured".split())
"""What functions of the processor have besides."""

_MATH = frozenset(
    """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma
    fmax fmin fmod frexp hypot ilogb j0 j1 jn ldexp lgamma gamma llrint llround log log10 log1p log2 logb lrint lround
    modf nan nearbyint nextafter pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc
    y0 y1 yn""".split()
)
_FUNCTIONS = frozenset(
    """abs labs llabs div ldiv index rindex main malloc calloc realloc free printf puts memcpy memset memmove
    memcmp""".split()
) | {f"{name}{suffix}" for name in _MATH for suffix in ("", "f", "l")}
"""Functions that compilers know the meaning of, which generated code may call."""

_LIBRARY = frozenset(
    """abort atexit exit atof atoi atol atoll bsearch qsort getenv system rand srand strtod strtof strtol strtoll
    strtoul aligned_alloc clearerr fclose feof ferror fflush fgetc fgetpos fgets fopen fprintf fputc fputs fread freopen
    fscanf
    fseek fsetpos ftell fwrite getc getchar gets perror putc putchar remove rename rewind scanf setbuf setvbuf snprintf
    sprintf sscanf tmpfile tmpnam ungetc vfprintf vprintf vsnprintf vsprintf memchr strcat strchr strcmp strcoll strcpy
    strcspn strdup strerror strlen strncat strncmp strncpy strpbrk strrchr strspn strstr strtok strxfrm
    asctime clock ctime difftime gmtime localtime mktime strftime time raise signal longjmp isalnum isalpha iscntrl
    isdigit isgraph islower isprint ispunct isspace isupper isxdigit tolower toupper
    accept access alarm bind chdir chmod chown close connect creat dlclose dlopen dlsym dup dup2 environ execve fcntl
    fork fstat fsync ftruncate getcwd getpid getuid ioctl kill link listen lseek lstat madvise mkdir mmap mprotect
    munmap nice open optarg optind pause pipe poll popen pread pwrite read readlink recv rmdir sbrk select send
    shutdown signgam sleep socket stat symlink sync syscall sysconf timezone tzname unlink usleep utime wait waitpid
    write""".split()
)
"""Other functions and objects of the C library, which no function of a kernel may take the place of."""

_VENDOR_TYPES = frozenset(
    """GM_ADDR AscendC half bfloat16_t float16_t TPipe TQue TQueBind TBuf TPosition TEventID HardEvent QuePosition
    LocalTensor GlobalTensor DataCopyParams DataCopyExtParams DataCopyPadExtParams DataCopyPadParams Nd2NzParams
    LoadData2DParams LoadData2dTransposeParams MmadParams FixpipeParamsV220 InitConstValueParams QuantMode_t CacheLine
    DcciDst CMPMODE SELMODE RoundMode ReduceOrder MaskMode MASK_PLACEHOLDER CFG_ROW_MAJOR BT Shape
    UnaryRepeatParams BinaryRepeatParams BrcbRepeatParams ASCEND_IS_AIC ASCEND_IS_AIV
    KERNEL_TASK_TYPE_DEFAULT""".split()
)
"""Types, enumerations and macros of the vendor's header that a function could not share a name with."""

_LIKE_VENDORS = re.compile(r"[A-Z]+[a-z][A-Za-z0-9]*")
_RESERVED_INSIDE = _KEYWORDS | _MACROS | _TYPES
_RESERVED = _RESERVED_INSIDE | _VARIABLES | _FUNCTIONS
_RESERVED_ENTRIES = _LIBRARY | _VENDOR_TYPES


@lru_cache(maxsize=4096)
def identifier(hint: str) -> str:
    """A legal C++ identifier that keeps as much of `hint` as possible; of `pyasc.name`, the last part."""
    return _identifier(hint, _RESERVED)


def _identifier(hint: str, reserved: frozenset[str]) -> str:
    hint = hint.rpartition(".")[2]
    text = unicodedata.normalize("NFKD", hint)
    text = "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"u{ord(c):x}" for c in text)
    text = re.sub("_+", "_", text).strip("_")
    if not text or text[0].isdigit():
        text = f"v{text}"
    if text in reserved or text.startswith(("pa_", "PA_", "pyasc_")) or text[:2] == "u0":
        text += "_"
    return text


def entry_name(hint: str) -> str:
    """A name for a function that other files see."""
    text = identifier(hint)
    return f"{text}_" if text in _RESERVED_ENTRIES else text


class Names:
    """Hands out names that are unique within one scope and the scopes around it."""

    def __init__(self, outer: Names | None = None) -> None:
        self._taken: dict[str, int] = {} if outer is None else dict(outer._taken)

    def reserve(self, name: str) -> None:
        """Keep a name from being handed out."""
        self._taken.setdefault(name, 1)

    def fresh(self, hint: str) -> str:
        """A new name that reads like `hint`."""
        base = self._legal(hint)
        stem = base.rstrip("_")
        count = self._taken.get(base, 0)
        while True:
            name = base if count == 0 else self._numbered(stem, count)
            count += 1
            if name == base or name not in self._taken:
                break
        self._taken[base] = count
        if name != base:
            self._taken[name] = 1
        return name

    def taken(self, hint: str) -> bool:
        """Whether a name like `hint` would get a number."""
        return self._legal(hint) in self._taken

    def _numbered(self, stem: str, count: int) -> str:
        """The name of the one behind `count` others."""
        return f"{stem}_{count}"

    def _legal(self, hint: str) -> str:
        return identifier(hint)


class VendorNames(Names):
    """Names that never equal a type or function of the vendor's header: its own are written in capitalised words."""

    def inner(self) -> VendorNames:
        """Names for a block inside of this one, which are free again behind it."""
        return VendorNames(self)

    def _numbered(self, stem: str, count: int) -> str:
        """The second `tmp` is `tmp2`; behind a digit stands a line."""
        return f"{stem}{'_' if stem[-1:].isdigit() else ''}{count + 1}"

    def _legal(self, hint: str) -> str:
        bare = hint.strip("_")
        taken = bare in _VENDOR_TYPES or _LIKE_VENDORS.fullmatch(bare) is not None
        # Functions of C may be hidden: a kernel calls none of them.
        return _identifier(f"{hint}_v" if taken else hint, _RESERVED_INSIDE)
