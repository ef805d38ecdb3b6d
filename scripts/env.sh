# Sourced by the other scripts: makes .venv with what the named requirements file pins,
# once, and again when the file changes. PYTHON names the interpreter (3.11 or newer).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

use_env() {
    local requirements=$1 stamp=.venv/installed-${1%.txt}
    if [ ! -x .venv/bin/python ]; then
        "${PYTHON:-python3}" -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; name another with PYTHON=…") if sys.version_info < (3, 11) else 0'
        echo "making .venv" >&2
        "${PYTHON:-python3}" -m venv .venv
    fi
    if ! cat requirements.txt "$requirements" pyproject.toml | cmp -s - "$stamp"; then
        echo "installing $requirements (once)" >&2
        .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$requirements"
        .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
        cat requirements.txt "$requirements" pyproject.toml > "$stamp"
    fi
    PATH="$PWD/.venv/bin:$PATH"
}
