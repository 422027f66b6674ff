package client;

import static org.apache.zookeeper.CreateMode.EPHEMERAL;
import static org.apache.zookeeper.CreateMode.PERSISTENT;
import static org.apache.zookeeper.ZooDefs.Ids.OPEN_ACL_UNSAFE;

import java.util.List;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/** A watch left by a read fires once; one client changes things, the other hears of them. */
public final class OneShotWatches {
    private static final byte[] DATA = "data".getBytes();

    private OneShotWatches() {}

    public static void main(String[] arguments) throws Exception {
        try (Witness hearer = Witness.of(arguments[0]); Witness doer = Witness.of(arguments[0])) {
            changes(hearer, doer.zookeeper);
            absence(hearer, doer.zookeeper);
            both(hearer, doer.zookeeper);
            multi(hearer, doer.zookeeper);
        }
        endOfSession(arguments[0]);
    }

    private static void create(ZooKeeper doer, String path) throws Exception {
        doer.create(path, DATA, OPEN_ACL_UNSAFE, PERSISTENT);
    }

    private static void changes(Witness hearer, ZooKeeper doer) throws Exception {
        create(doer, "/once");
        hearer.zookeeper.getData("/once", true, null);
        hearer.zookeeper.getChildren("/once", true);
        doer.setData("/once", DATA, -1);
        hearer.tell("set");
        doer.setData("/once", DATA, -1);
        hearer.tell("set again, and nobody watches");
        create(doer, "/once/child");
        hearer.tell("a child");
        create(doer, "/once/second");
        hearer.tell("another child, and nobody watches");
        hearer.zookeeper.getData("/once/child", true, null);
        doer.setACL("/once/child", OPEN_ACL_UNSAFE, -1);
        hearer.tell("an ACL is not data");
        doer.delete("/once/child", -1);
        hearer.tell("deleted");
    }

    private static void absence(Witness hearer, ZooKeeper doer) throws Exception {
        hearer.zookeeper.exists("/once/later", true);
        Text.tell("a read that fails", () -> hearer.zookeeper.getData("/once/never", true, null));
        create(doer, "/once/never");
        hearer.tell("what could not be read leaves no watch");
        create(doer, "/once/later");
        hearer.tell("created");
        hearer.zookeeper.exists("/once/later", true);
        doer.delete("/once/later", -1);
        hearer.tell("deleted");
    }

    private static void both(Witness hearer, ZooKeeper doer) throws Exception {
        hearer.zookeeper.getData("/once/second", true, null);
        hearer.zookeeper.exists("/once/second", true);
        hearer.zookeeper.getChildren("/once/second", true);
        hearer.zookeeper.getChildren("/once", true);
        doer.delete("/once/second", -1);
        hearer.tell("deleted, with watches of every kind");
    }

    private static void multi(Witness hearer, ZooKeeper doer) throws Exception {
        hearer.zookeeper.getData("/once", true, null);
        hearer.zookeeper.getChildren("/once", true);
        hearer.zookeeper.exists("/once/m", true);
        doer.multi(List.of(
                Op.setData("/once", DATA, -1),
                Op.create("/once/m", DATA, OPEN_ACL_UNSAFE, PERSISTENT),
                Op.delete("/once/m", -1),
                Op.delete("/once/never", -1)));
        hearer.tell("a multi");
    }

    private static void endOfSession(String server) throws Exception {
        try (Witness hearer = Witness.of(server)) {
            try (Witness leaver = Witness.of(server)) {
                leaver.zookeeper.create("/once/e", DATA, OPEN_ACL_UNSAFE, EPHEMERAL);
                hearer.zookeeper.exists("/once/e", true);
                hearer.zookeeper.getChildren("/once", true);
            }
            hearer.tell("a session was closed");
            hearer.zookeeper.exists("/once", true);
            hearer.zookeeper.delete("/once", -1);
            hearer.tell("one hears of one's own deeds");
        }
    }
}
