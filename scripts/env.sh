# Sourced by the other scripts: makes .venv with what the named requirements file pins,
# once, and again when the file changes. PYTHON names the interpreter (3.11 or newer).
set -euo pipefail
called_from=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() { # the comment at the head of the script
    sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "scripts/$(basename "$0")"
}

help_if_asked() { # before anything is installed
    case ${1:-} in -h | --help) usage && exit ;; esac
}

stamp_of() {
    echo ".venv/installed-${1%.txt}"
}

is_installed() {
    cat requirements.txt "$1" pyproject.toml | cmp -s - "$(stamp_of "$1")"
}

use_env() {
    local requirements=$1
    if is_installed requirements-dev.txt && [ "$1" = requirements.txt ]; then
        requirements=requirements-dev.txt # has the others in it
    fi
    if [ ! -x .venv/bin/python ]; then
        "${PYTHON:-python3}" -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; name another with PYTHON=…") if sys.version_info < (3, 11) else 0'
        echo "making .venv" >&2
        "${PYTHON:-python3}" -m venv .venv
    fi
    if ! is_installed "$requirements"; then
        echo "installing $requirements (once)" >&2
        .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$requirements"
        .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
        cat requirements.txt "$requirements" pyproject.toml > "$(stamp_of "$requirements")"
    fi
    PATH="$PWD/.venv/bin:$PATH"
}
