"""What a server's process runs: the command, until it ends or whoever started it is gone.

A parent that is killed cannot stop its children. It holds the other end of our standard input, so
we hear of its end whatever it died of, and stop as if asked to.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading

STOP_WITHIN_S = 5.0


def main(arguments: list[str]) -> None:
    threading.Thread(target=outlive_nobody, daemon=True).start()
    sys.argv = ["odradek", *arguments]
    runpy.run_module("odradek.cli", run_name="__main__")


def outlive_nobody() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(STOP_WITHIN_S)
    os._exit(1)  # Those whom it would take leave of may be gone as well.


if __name__ == "__main__":
    main(sys.argv[1:])
