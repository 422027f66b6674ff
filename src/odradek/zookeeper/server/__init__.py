"""A ZooKeeper server as a process: sockets, timers, disk, and the rules of `state` between them."""
