"""Ask the process that stands by for a fork of it; where there is none, become the first.

    python -I -S standby_call.py PYTHON -m MODULE

A script with as few imports as can be: whatever it takes, each streaming query waits for. It stays
until the fork has ended, and the fork ends with it: whoever started us may take us for the fork.
"""

import os
import sys
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, socket
from array import array

NAME = "odradek-standby"  # In the first of the session's own directories, which go with it.


def main() -> None:
    python, _, module = sys.argv[1:]
    connection = call(module)
    if connection is None:
        os.execv(python, [python, "-m", "odradek.spark.standby", module])
    connection.recv(1)  # Nothing comes but the end.


def call(module: str) -> socket | None:
    """A connection to the fork, which has our environment, directory and standard files."""
    directory = os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")[0]
    connection = socket(AF_UNIX, SOCK_STREAM)
    try:
        connection.connect(os.path.join(directory, NAME))
        environment = [name + b"=" + value for name, value in os.environb.items()]
        told = b"\0".join([module.encode(), os.getcwdb(), *environment])
        files = array("i", [0, 1, 2])
        head = len(told).to_bytes(4, "big")
        connection.sendmsg([head], [(SOL_SOCKET, SCM_RIGHTS, files)])
        connection.sendall(told)
        is_taken = connection.recv(1) != b""
    except OSError:
        is_taken = False
    return connection if is_taken else None


if __name__ == "__main__":
    main()
