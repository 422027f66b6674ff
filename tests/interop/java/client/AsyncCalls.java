package client;

import static org.apache.zookeeper.CreateMode.EPHEMERAL;
import static org.apache.zookeeper.CreateMode.PERSISTENT;
import static org.apache.zookeeper.CreateMode.PERSISTENT_SEQUENTIAL;
import static org.apache.zookeeper.CreateMode.PERSISTENT_WITH_TTL;
import static org.apache.zookeeper.ZooDefs.Ids.OPEN_ACL_UNSAFE;
import static org.apache.zookeeper.ZooDefs.Ids.READ_ACL_UNSAFE;

import java.util.List;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/** Every call with a callback, sent in one go: the answers come in the order of the questions. */
public final class AsyncCalls {
    private static final byte[] DATA = "data".getBytes();
    private static final long HOUR_MS = 3_600_000;

    private final Witness witness;
    private final ZooKeeper zookeeper;

    private AsyncCalls(Witness witness) {
        this.witness = witness;
        this.zookeeper = witness.zookeeper;
    }

    public static void main(String[] arguments) throws Exception {
        try (Witness witness = Witness.of(arguments[0])) {
            AsyncCalls calls = new AsyncCalls(witness);
            calls.create();
            calls.change();
            calls.read();
            calls.list();
            calls.watch();
            calls.remove();
            witness.tell("all that was heard meanwhile");
        }
    }

    private void create(String path, CreateMode mode, String what) {
        AsyncCallback.Create2Callback answer = AsyncCalls::tell;
        long ttl = mode.isTTL() ? HOUR_MS : -1;
        zookeeper.create(path, DATA, OPEN_ACL_UNSAFE, mode, answer, what, ttl);
    }

    private void create(String path, List<ACL> acl, String what) {
        AsyncCallback.StringCallback answer = AsyncCalls::tell;
        zookeeper.create(path, null, acl, PERSISTENT, answer, what);
    }

    private void create() {
        create("/calls", OPEN_ACL_UNSAFE, "create");
        create("/calls", OPEN_ACL_UNSAFE, "create again");
        create("/calls/a", OPEN_ACL_UNSAFE, "create without data");
        create("/calls/no", List.of(), "create without an ACL");
        create("/calls/a/b/c", PERSISTENT, "create under nothing");
        create("/calls/n-", PERSISTENT_SEQUENTIAL, "create a number");
        create("/calls/e", EPHEMERAL, "create an ephemeral");
        create("/calls/e/x", PERSISTENT, "create under an ephemeral");
        create("/calls/t", PERSISTENT_WITH_TTL, "create for an hour");
    }

    private void change() {
        zookeeper.setData("/calls", DATA, 0, AsyncCalls::tell, "set");
        zookeeper.setData("/calls", DATA, 0, AsyncCalls::tell, "set at an old version");
        zookeeper.setACL("/calls/a", READ_ACL_UNSAFE, 0, AsyncCalls::tell, "set ACL");
        zookeeper.setACL("/calls", OPEN_ACL_UNSAFE, 5, AsyncCalls::tell, "set ACL at no version");
        Op set = Op.setData("/calls", DATA, -1);
        Op delete = Op.delete("/calls/n-0000000001", 0);
        zookeeper.multi(List.of(set, delete), AsyncCalls::tell, "multi");
        zookeeper.multi(List.of(set, delete), AsyncCalls::tell, "multi again");
    }

    private void read() {
        AsyncCallback.DataCallback data = AsyncCalls::tell;
        zookeeper.exists("/calls", false, AsyncCalls::tell, "exists");
        zookeeper.exists("/nowhere", false, AsyncCalls::tell, "exists not");
        zookeeper.getData("/calls", false, data, "get");
        zookeeper.getData("/calls/a", false, data, "get nothing");
        zookeeper.getData("/nowhere", false, data, "get nowhere");
        zookeeper.getConfig(false, data, "configuration");
        zookeeper.getACL("/calls/a", null, AsyncCalls::tell, "get ACL");
        zookeeper.sync("/nowhere", AsyncCalls::tell, "sync");
        Op found = Op.getData("/calls");
        Op lost = Op.getChildren("/nowhere");
        zookeeper.multi(List.of(found, lost), AsyncCalls::tell, "multi of reads");
    }

    private void list() {
        AsyncCallback.ChildrenCallback names = AsyncCalls::tell;
        AsyncCallback.Children2Callback namesAndStat = AsyncCalls::tell;
        zookeeper.getChildren("/calls", false, names, "children");
        zookeeper.getChildren("/calls", false, namesAndStat, "children with stat");
        zookeeper.getChildren("/nowhere", false, namesAndStat, "children of nothing");
        zookeeper.getAllChildrenNumber("/calls", AsyncCalls::tell, "count");
        zookeeper.getAllChildrenNumber("/nowhere", AsyncCalls::tell, "count of nothing");
        zookeeper.getEphemerals("/calls", AsyncCalls::tell, "ephemerals");
    }

    private void watch() {
        AsyncCallback.VoidCallback done = AsyncCalls::tell;
        WatcherType other = WatcherType.Children;
        zookeeper.addWatch("/calls", AddWatchMode.PERSISTENT, done, "add watch");
        zookeeper.removeWatches("/calls", witness, other, false, done, "remove another watch");
        zookeeper.removeWatches("/calls", witness, WatcherType.Any, false, done, "remove watch");
    }

    private void remove() {
        zookeeper.delete("/calls", -1, AsyncCalls::tell, "delete with children");
        zookeeper.delete("/calls/a", 7, AsyncCalls::tell, "delete at another version");
        for (String name : List.of("/a", "/e", "/t", "", "")) {
            zookeeper.delete("/calls" + name, -1, AsyncCalls::tell, "delete");
        }
    }

    // One shape of answer each: code, path, what was asked, and what came of it.

    private static void tell(int code, String path, Object what) {
        System.out.println(what + ": " + Code.get(code) + " " + path);
    }

    private static void tell(int code, String path, Object what, List<OpResult> results) {
        tell(code, Results.text(results), what);
    }

    private static void tell(int code, String path, Object what, Object found) {
        tell(code, path + " " + Text.of(found), what);
    }

    private static void tell(int code, String path, Object what, Object found, Stat stat) {
        tell(code, path + " " + Text.of(found) + " " + Text.of(stat), what);
    }

    private static void tell(int code, Object what, List<String> paths) {
        tell(code, Text.of(paths), what);
    }
}
