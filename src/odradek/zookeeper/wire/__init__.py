"""How ZooKeeper speaks: jute records, frames, operations. No socket, no clock."""
