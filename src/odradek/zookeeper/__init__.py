"""A ZooKeeper 3.9 server, its client and its wire."""
