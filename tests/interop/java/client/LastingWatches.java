package client;

import static org.apache.zookeeper.AddWatchMode.PERSISTENT;
import static org.apache.zookeeper.AddWatchMode.PERSISTENT_RECURSIVE;
import static org.apache.zookeeper.ZooDefs.Ids.OPEN_ACL_UNSAFE;

import java.util.List;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooKeeper;

/** Watches that stay until they are removed, on one znode or on all below it. */
public final class LastingWatches {
    private static final byte[] DATA = "data".getBytes();

    private LastingWatches() {}

    public static void main(String[] arguments) throws Exception {
        try (Witness hearer = Witness.of(arguments[0]); Witness doer = Witness.of(arguments[0])) {
            hears(hearer, doer.zookeeper, "/lasting", PERSISTENT);
            hears(hearer, doer.zookeeper, "/recursive", PERSISTENT_RECURSIVE);
            changesMode(hearer, doer.zookeeper);
            besideOneShot(hearer, doer.zookeeper);
            refusals(hearer);
        }
    }

    private static void create(ZooKeeper doer, String path) throws Exception {
        doer.create(path, DATA, OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    private static void live(Witness hearer, ZooKeeper doer, String path) throws Exception {
        create(doer, path);
        hearer.tell("created");
        doer.setData(path, DATA, -1);
        doer.setData(path, DATA, -1);
        hearer.tell("set twice");
        create(doer, path + "/a");
        create(doer, path + "/a/b");
        hearer.tell("a child, and a child of the child");
        doer.setData(path + "/a/b", DATA, -1);
        hearer.tell("the child of the child is set");
        for (String name : List.of("/a/b", "/a", "")) {
            doer.delete(path + name, -1);
        }
        hearer.tell("all deleted");
    }

    private static void hears(Witness hearer, ZooKeeper doer, String path, AddWatchMode mode)
            throws Exception {
        System.out.println(mode);
        hearer.zookeeper.addWatch(path, mode);
        live(hearer, doer, path);
        create(doer, path);
        hearer.tell("it outlives its znode");
        hearer.zookeeper.removeWatches(path, hearer, WatcherType.Any, false);
        hearer.tell("removed");
        doer.delete(path, -1);
        hearer.tell("deleted, and nobody watches");
    }

    private static void changesMode(Witness hearer, ZooKeeper doer) throws Exception {
        hearer.zookeeper.addWatch("/lasting", PERSISTENT_RECURSIVE);
        hearer.zookeeper.addWatch("/lasting", PERSISTENT);
        live(hearer, doer, "/lasting");
        hearer.zookeeper.removeAllWatches("/lasting", WatcherType.Any, false);
        hearer.tell("removed");
    }

    private static void besideOneShot(Witness hearer, ZooKeeper doer) throws Exception {
        create(doer, "/lasting");
        hearer.zookeeper.addWatch("/", PERSISTENT_RECURSIVE);
        hearer.zookeeper.getData("/lasting", true, null);
        hearer.zookeeper.getChildren("/lasting", true);
        doer.setData("/lasting", DATA, -1);
        create(doer, "/lasting/a");
        hearer.tell("the watch of all, and others beside it");
        hearer.zookeeper.removeAllWatches("/", WatcherType.Any, false);
        hearer.tell("removed");
        doer.delete("/lasting/a", -1);
        doer.delete("/lasting", -1);
        hearer.tell("deleted, and nobody watches");
    }

    private static void refusals(Witness hearer) throws Exception {
        ZooKeeper zookeeper = hearer.zookeeper;
        Text.tell("remove where none is", () -> {
            zookeeper.removeWatches("/nowhere", hearer, WatcherType.Any, false);
            return "removed";
        });
        zookeeper.exists("/nowhere", true);
        Text.tell("remove of another kind", () -> {
            zookeeper.removeAllWatches("/nowhere", WatcherType.Children, false);
            return "removed";
        });
        Text.tell("remove of this kind", () -> {
            zookeeper.removeAllWatches("/nowhere", WatcherType.Data, false);
            return "removed";
        });
        hearer.tell("removed");
    }
}
