package client;

import static org.apache.zookeeper.CreateMode.CONTAINER;
import static org.apache.zookeeper.CreateMode.EPHEMERAL_SEQUENTIAL;
import static org.apache.zookeeper.CreateMode.PERSISTENT;
import static org.apache.zookeeper.CreateMode.PERSISTENT_SEQUENTIAL;
import static org.apache.zookeeper.CreateMode.PERSISTENT_WITH_TTL;
import static org.apache.zookeeper.ZooDefs.Ids.OPEN_ACL_UNSAFE;

import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/** All or nothing: each part sees those before it, and one refusal undoes them all. */
public final class Multis {
    private static final byte[] DATA = "data".getBytes();
    private static final long HOUR_MS = 3_600_000;

    private final ZooKeeper zookeeper;

    private Multis(ZooKeeper zookeeper) {
        this.zookeeper = zookeeper;
    }

    public static void main(String[] arguments) throws Exception {
        try (Witness witness = Witness.of(arguments[0])) {
            Multis multis = new Multis(witness.zookeeper);
            multis.succeed();
            multis.fail();
            multis.look();
            multis.chain();
            multis.tidy();
        }
    }

    private static Op create(String name, CreateMode mode) {
        return Op.create("/multi" + name, DATA, OPEN_ACL_UNSAFE, mode, mode.isTTL() ? HOUR_MS : -1);
    }

    private static Op set(int version) {
        return Op.setData("/multi", DATA, version);
    }

    private static Op check(int version) {
        return Op.check("/multi", version);
    }

    private static Op delete(String name) {
        return Op.delete("/multi" + name, -1);
    }

    private void make(String what, Op... parts) throws Exception {
        String outcome;
        try {
            outcome = Results.text(zookeeper.multi(List.of(parts)));
        } catch (KeeperException refusal) {
            outcome = refusal.code() + ": " + Results.text(refusal.getResults());
        }
        System.out.println(what + ": " + outcome);
    }

    private void succeed() throws Exception {
        make("nothing");
        make("a family", create("", PERSISTENT), create("/a", PERSISTENT));
        make("a grandchild", check(0), create("/a/b", PERSISTENT));
        make("numbers", create("/n-", PERSISTENT_SEQUENTIAL), create("/n-", EPHEMERAL_SEQUENTIAL));
        make("kinds", create("/box", CONTAINER), create("/hour", PERSISTENT_WITH_TTL));
        make("versions", check(0), set(0), set(1), check(2));
        make("there and gone", create("/c", PERSISTENT), delete("/c"), create("/c", PERSISTENT));
    }

    private void fail() throws Exception {
        make("the first", create("", PERSISTENT), create("/x", PERSISTENT));
        make("the last", create("/x", PERSISTENT), set(2), delete(""));
        make("the middle", create("/x", PERSISTENT), Op.check("/nowhere", -1), delete("/c"));
        make("a check", check(9));
        make("a child", delete("/a"));
        Text.tell("nothing of it was done", () -> zookeeper.exists("/multi/x", false));
        Text.tell("what is left", () -> zookeeper.getChildren("/multi", false));
        make("a number after that", create("/n-", PERSISTENT_SEQUENTIAL));
    }

    private void look() throws Exception {
        make("data", Op.getData("/multi"), Op.getData("/nowhere"), Op.getData("/multi/a"));
        make("children", Op.getChildren("/nowhere"), Op.getChildren("/multi"));
    }

    private void chain() throws Exception {
        String outcome = Results.text(zookeeper.transaction()
                .check("/multi", 2)
                .create("/multi/chained", DATA, OPEN_ACL_UNSAFE, PERSISTENT)
                .setData("/multi/chained", "new".getBytes(), 0)
                .delete("/multi/c", -1)
                .commit());
        System.out.println("a chain: " + outcome);
    }

    private void tidy() throws Exception {
        Text.tell("at the end", () -> zookeeper.exists("/multi", false));
        zookeeper.delete("/multi/a/b", -1);
        for (String name : zookeeper.getChildren("/multi", false)) {
            zookeeper.delete("/multi/" + name, -1);
        }
        zookeeper.delete("/multi", -1);
    }
}
