"""The rules of the cluster's controller: pure, over an image of what ZooKeeper holds."""
