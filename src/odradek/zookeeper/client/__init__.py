"""The ZooKeeper client: sessions that outlive connections, on the running loop alone."""
