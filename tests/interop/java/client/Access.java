package client;

import static org.apache.zookeeper.CreateMode.PERSISTENT;
import static org.apache.zookeeper.ZooDefs.Ids.AUTH_IDS;
import static org.apache.zookeeper.ZooDefs.Ids.CREATOR_ALL_ACL;
import static org.apache.zookeeper.ZooDefs.Ids.OPEN_ACL_UNSAFE;

import java.util.Arrays;
import java.util.List;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;

/** Each permission opens what it is for, to whom it names. */
public final class Access {
    private static final byte[] DATA = "data".getBytes();
    private static final byte[] PROOF = "joe:secret".getBytes();
    private static final ACL ALL_TO_ME = new ACL(Perms.ALL, AUTH_IDS);
    private static final int[] PERMISSIONS = {1, 2, 4, 8, 16};

    private Access() {}

    public static void main(String[] arguments) throws Exception {
        String server = arguments[0];
        try (Witness owner = Witness.of(server); Witness stranger = Witness.of(server)) {
            owner.zookeeper.addAuthInfo("digest", PROOF);
            prepare(owner.zookeeper);
            tryAll(stranger.zookeeper, "/access/mine");
            for (int permission : PERMISSIONS) {
                tryAll(stranger.zookeeper, "/access/" + permission);
            }
            stranger.zookeeper.addAuthInfo("digest", PROOF);
            tryAll(stranger.zookeeper, "/access/mine");
            Text.tell("its ids", () -> stranger.zookeeper.whoAmI().size());
            setAll(owner.zookeeper);
            tidy(owner.zookeeper);
        }
        failToProve(server, "nonsense", DATA);
        failToProve(server, "digest", null);
    }

    private static ACL entry(int permissions, String scheme, String id) {
        return new ACL(permissions, new Id(scheme, id));
    }

    private static void prepare(ZooKeeper owner) throws Exception {
        owner.create("/access", DATA, OPEN_ACL_UNSAFE, PERSISTENT);
        owner.create("/access/mine", DATA, CREATOR_ALL_ACL, PERSISTENT);
        for (int permission : PERMISSIONS) {
            String path = "/access/" + permission;
            List<ACL> acl = Arrays.asList(entry(permission, "world", "anyone"), ALL_TO_ME);
            owner.create(path, DATA, acl, PERSISTENT);
            owner.create(path + "/child", DATA, OPEN_ACL_UNSAFE, PERSISTENT);
        }
    }

    private static void tryAll(ZooKeeper client, String path) throws Exception {
        System.out.println(path);
        Text.tell("exists", () -> client.exists(path, false));
        Text.tell("get", () -> client.getData(path, false, null));
        Text.tell("children", () -> client.getChildren(path, false));
        Text.tell("count", () -> client.getAllChildrenNumber(path));
        Text.tell("get ACL", () -> client.getACL(path, null));
        Text.tell("set", () -> client.setData(path, DATA, -1));
        Text.tell("create", () -> client.create(path + "/c", DATA, OPEN_ACL_UNSAFE, PERSISTENT));
        Text.tell("delete", () -> {
            client.delete(path + "/child", -1);
            return "done";
        });
        Text.tell("set ACL", () -> client.setACL(path, client.getACL(path, null), -1));
        List<Op> parts = List.of(Op.check(path, -1), Op.setData(path, DATA, -1));
        Text.tell("multi", () -> Results.text(client.multi(parts)));
    }

    private static void setAll(ZooKeeper owner) throws Exception {
        for (ACL entry : List.of(
                entry(Perms.ALL, "nonsense", "x"),
                entry(Perms.ALL, "world", "somebody"),
                entry(Perms.ALL, "digest", "joe"),
                entry(Perms.ALL, "digest", "joe:x"),
                entry(Perms.ALL, "ip", "300.1.1.1"),
                entry(Perms.ALL, "ip", "10.0.0.0/8"),
                entry(0, "world", "anyone"))) {
            List<ACL> acl = Arrays.asList(entry, ALL_TO_ME);
            Text.tell(Text.of(entry), () -> owner.setACL("/access/mine", acl, -1));
        }
        Text.tell("what it came to", () -> owner.getACL("/access/mine", null));
    }

    private static void tidy(ZooKeeper owner) throws Exception {
        for (String name : owner.getChildren("/access", false)) {
            for (String child : owner.getChildren("/access/" + name, false)) {
                owner.delete("/access/" + name + "/" + child, -1);
            }
            owner.delete("/access/" + name, -1);
        }
        owner.delete("/access", -1);
    }

    private static void failToProve(String server, String scheme, byte[] proof) throws Exception {
        try (Witness liar = Witness.of(server)) {
            liar.zookeeper.addAuthInfo(scheme, proof);
            liar.await(KeeperState.AuthFailed);
            Text.tell("no proof by " + scheme, () -> liar.zookeeper.exists("/", false));
        }
    }
}
