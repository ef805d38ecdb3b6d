"""False positives of the approximate seen set, grown from a capacity 100 times too small."""

from __future__ import annotations

import argparse
import sys
import time
from hashlib import blake2b

from crawler.frontier.layers import LayeredFilter

PROBES = 1_000_000


def main() -> int:
    """Fill a filter, ask for keys it never got, and compare with the promise."""
    parser = argparse.ArgumentParser(prog="scripts/bench seen", description=__doc__)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--error", type=float, default=0.001)
    options = parser.parse_args()
    known = LayeredFilter(options.urls // 100, options.error)
    start = time.process_time()
    for number in range(options.urls):
        known.add(_key(number))
    add_us = 1e6 * (time.process_time() - start) / options.urls
    start = time.process_time()
    false = sum(_key(-1 - number) in known for number in range(PROBES))
    ask_us = 1e6 * (time.process_time() - start) / PROBES
    missing = sum(_key(n) not in known for n in range(0, options.urls, 97))
    rate = false / PROBES
    print(
        f"{options.urls:,} keys in {len(known.layers)} layers from a capacity of "
        f"{known.capacity:,}: {known.size_bytes() / options.urls:.2f} bytes a key, "
        f"{add_us:.1f} us an addition, {ask_us:.1f} us for an unknown key"
    )
    print(
        f"false positives: {rate:.4%} of {PROBES:,} unknown keys, promised {options.error:.4%}, "
        f"computed from the fill {known.false_positive_rate():.4%}; known keys missed: {missing}"
    )
    if missing or rate > options.error:
        print("the promise is broken")
        return 1
    return 0


def _key(number: int) -> str:
    return blake2b(str(number).encode(), digest_size=16).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
