"""What a broker holds while it runs: partitions, metadata, its place in ZooKeeper."""
