#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes .venv with pyasc and its development tools, and sees to it that there is a C++ compiler.
# Needs Python 3.10 or newer, which is fetched by apt-get where that is possible. Run again, it
# returns at once unless pyproject.toml has changed. PYTHON names the interpreter to use.
set -eu
cd "$(dirname "$0")/.."

venv=.venv
stamp=$venv/pyasc-bootstrap.stamp
log=$venv/pyasc-bootstrap.log

say() { printf '%s\n' "bootstrap: $*" >&2; }
die() { say "$@"; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

can_apt() { [ "$(id -u)" = 0 ] && has apt-get; }
apt_install() {
    say "installing $* with apt-get"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y --no-install-recommends "$@" >/dev/null 2>&1 ||
        { apt-get update >/dev/null 2>&1 && apt-get install -y --no-install-recommends "$@" >/dev/null; }
}

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; }
find_python() {
    for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python3.10 python; do
        if has "$candidate" && is_new_enough "$candidate"; then echo "$candidate"; return; fi
    done
    return 1
}

has_pip() { "$venv/bin/python" -m pip --version >/dev/null 2>&1; }
# A venv without ensurepip, as on a Debian without python3-venv, is made by what else is there.
make_venv() {
    "$1" -m venv --clear $venv >/dev/null 2>&1 && has_pip && return
    if can_apt; then
        version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        { apt_install "python$version-venv" || apt_install python3-venv; } &&
            "$1" -m venv --clear $venv && has_pip && return
    fi
    "$1" -m virtualenv -q --clear $venv >/dev/null 2>&1 && has_pip && return
    if has uv; then uv venv -q --clear --seed -p "$1" $venv && has_pip && return; fi
    scratch=$(mktemp -d)
    "$1" -m pip install -q --target "$scratch" virtualenv >/dev/null 2>&1 &&
        PYTHONPATH=$scratch "$1" -m virtualenv -q --clear $venv >/dev/null 2>&1 || true
    rm -rf "$scratch"
    has_pip
}

pip_install() {
    for _ in 1 2 3; do
        if "$venv/bin/python" -m pip install -q --disable-pip-version-check "$@" >"$log" 2>&1; then return; fi
        sleep 2
    done
    cat "$log" >&2
    die "pip install $* failed"
}

has_compiler() {
    [ -n "${PYASC_CXX:-}" ] || has g++ || has clang++ || has c++ ||
        "$venv/bin/python" -c 'import ziglang' >/dev/null 2>&1
}

if ! { [ -x $venv/bin/python ] && cmp -s pyproject.toml $stamp; }; then
    python=$(find_python) || { can_apt && apt_install python3 && python=$(find_python); } ||
        die "Python 3.10 or newer is needed (PYTHON names one)"
    if ! { [ -x $venv/bin/python ] && has_pip; }; then
        say "making $venv with $("$python" --version)"
        make_venv "$python" || die "no virtual environment can be made: install python3-venv, or virtualenv"
    fi
    say "installing pyasc and its development tools into $venv"
    pip_install -e '.[dev]'
    cp pyproject.toml $stamp
fi

if ! has_compiler; then
    { can_apt && apt_install g++; } || { say "installing zig as the C++ compiler"; pip_install -e '.[zig]'; }
    has_compiler || die "no C++ compiler: install g++ or clang++, or set PYASC_CXX"
fi
