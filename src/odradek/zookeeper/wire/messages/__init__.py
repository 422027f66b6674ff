"""Every record of ZooKeeper 3.9, by the module it is defined in."""
