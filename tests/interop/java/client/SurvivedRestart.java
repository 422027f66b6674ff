package client;

import static org.apache.zookeeper.AddWatchMode.PERSISTENT_RECURSIVE;
import static org.apache.zookeeper.CreateMode.EPHEMERAL;
import static org.apache.zookeeper.CreateMode.PERSISTENT_SEQUENTIAL;
import static org.apache.zookeeper.ZooDefs.Ids.OPEN_ACL_UNSAFE;

import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/** A crash of the server ends neither sessions nor watches; its cue to come back is a line. */
public final class SurvivedRestart {
    private static final byte[] DATA = "data".getBytes();

    private SurvivedRestart() {}

    public static void main(String[] arguments) throws Exception {
        try (Witness witness = Witness.of(arguments[0])) {
            ZooKeeper zookeeper = witness.zookeeper;
            long id = zookeeper.getSessionId();
            prepare(zookeeper);
            System.out.println("ready");
            System.in.read();
            witness.await(KeeperState.Disconnected);
            witness.await(KeeperState.SyncConnected);
            System.out.println("the same session: " + (zookeeper.getSessionId() == id));
            witness.tell("nothing was missed");
            look(zookeeper);
            zookeeper.setData("/mine", DATA, 1);
            zookeeper.create("/n-", DATA, OPEN_ACL_UNSAFE, PERSISTENT_SEQUENTIAL);
            witness.tell("the watches stand");
        }
    }

    private static void prepare(ZooKeeper zookeeper) throws Exception {
        zookeeper.create("/mine", DATA, OPEN_ACL_UNSAFE, EPHEMERAL);
        zookeeper.create("/n-", DATA, OPEN_ACL_UNSAFE, PERSISTENT_SEQUENTIAL);
        zookeeper.setData("/mine", DATA, 0);
        zookeeper.getData("/mine", true, null);
        zookeeper.addWatch("/", PERSISTENT_RECURSIVE);
    }

    private static void look(ZooKeeper zookeeper) throws Exception {
        Text.tell("ephemerals", () -> zookeeper.getEphemerals());
        Text.tell("all", () -> zookeeper.getChildren("/", false));
        Text.tell("mine", () -> zookeeper.exists("/mine", false));
        Text.tell("the root", () -> zookeeper.exists("/", false));
    }
}
