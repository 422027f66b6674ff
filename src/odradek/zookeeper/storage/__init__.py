"""What outlives a crash: the transaction log, snapshots of the tree, epochs. Byte for byte."""
