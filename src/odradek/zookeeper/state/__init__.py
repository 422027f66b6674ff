"""What a ZooKeeper server knows, and the rules by which that changes. No socket, no disk."""
