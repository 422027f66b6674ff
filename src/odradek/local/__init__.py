"""A cluster of server processes on this machine: ports, files, processes, how they are."""
