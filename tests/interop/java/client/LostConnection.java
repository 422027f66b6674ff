package client;

import static org.apache.zookeeper.AddWatchMode.PERSISTENT;
import static org.apache.zookeeper.AddWatchMode.PERSISTENT_RECURSIVE;
import static org.apache.zookeeper.ZooDefs.Ids.OPEN_ACL_UNSAFE;

import java.util.List;
import java.util.TreeSet;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/** Who was cut off hears on return what he has missed, and what he watches he watches still. */
public final class LostConnection {
    private static final byte[] DATA = "data".getBytes();
    private static final List<String> NAMES =
            List.of("data", "gone", "parent", "quiet", "always", "below");

    private LostConnection() {}

    public static void main(String[] arguments) throws Exception {
        try (Relay relay = new Relay(arguments[0]);
                Witness doer = Witness.of(arguments[0]);
                Witness hearer = Witness.of(relay.address())) {
            prepare(doer.zookeeper);
            watch(hearer.zookeeper);
            relay.cut();
            hearer.await(KeeperState.Disconnected);
            change(doer.zookeeper);
            relay.heal();
            hearer.await(KeeperState.SyncConnected);
            hearer.tell("what was missed");
            change(doer.zookeeper, "/lost/quiet");
            hearer.tell("what was watched all along");
            tidy(doer.zookeeper);
            hearer.tell("what is watched for good");
        }
    }

    private static void prepare(ZooKeeper doer) throws Exception {
        doer.create("/lost", DATA, OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        for (String name : NAMES) {
            doer.create("/lost/" + name, DATA, OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
    }

    private static void watch(ZooKeeper hearer) throws Exception {
        hearer.getData("/lost/data", true, null);
        hearer.exists("/lost/gone", true);
        hearer.exists("/lost/created", true);
        hearer.exists("/lost/never", true);
        hearer.getChildren("/lost/parent", true);
        hearer.getData("/lost/quiet", true, null);
        hearer.getChildren("/lost/quiet", true);
        hearer.addWatch("/lost/always", PERSISTENT);
        hearer.addWatch("/lost/below", PERSISTENT_RECURSIVE);
    }

    private static void change(ZooKeeper doer, String path) throws Exception {
        doer.setData(path, DATA, -1);
        doer.create(path + "/child", DATA, OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        doer.delete(path + "/child", -1);
    }

    private static void change(ZooKeeper doer) throws Exception {
        doer.setData("/lost/data", DATA, -1);
        doer.delete("/lost/gone", -1);
        doer.create("/lost/created", DATA, OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        change(doer, "/lost/parent");
        change(doer, "/lost/always");
        change(doer, "/lost/below");
    }

    private static void tidy(ZooKeeper doer) throws Exception {
        for (String name : new TreeSet<>(doer.getChildren("/lost", false))) {
            doer.delete("/lost/" + name, -1);
        }
        doer.delete("/lost", -1);
    }
}
