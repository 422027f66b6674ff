package curator;

import java.util.Map;
import java.util.TreeMap;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.zookeeper.CreateMode;

/** A znode that comes back whatever befalls it, and a group made of such. */
public final class Members {
    private Members() {}

    public static void main(String[] arguments) throws Exception {
        try (CuratorFramework first = Clients.start(arguments[0]);
                CuratorFramework second = Clients.start(arguments[0])) {
            persist(first, second, arguments[0]);
            gather(first, second);
        }
    }

    private static void persist(CuratorFramework owner, CuratorFramework other, String server)
            throws Exception {
        PersistentNode node = new PersistentNode(
                owner, CreateMode.EPHEMERAL, false, "/node", Clients.bytes("1"));
        node.start();
        Clients.until(() -> content(other, "/node").equals("1"));
        other.delete().forPath("/node");
        Clients.until(() -> content(other, "/node").equals("1"));
        System.out.println("it comes back when it is deleted");
        node.setData(Clients.bytes("2"));
        Clients.until(() -> content(other, "/node").equals("2"));
        Clients.endSession(owner, server);
        Clients.until(() -> content(other, "/node").equals("2"));
        System.out.println("it comes back when its session has ended");
        node.close();
        Clients.until(() -> other.checkExists().forPath("/node") == null);
        System.out.println("it is gone when it is closed");
    }

    private static String content(CuratorFramework client, String path) throws Exception {
        return new String(client.getData().forPath(path));
    }

    private static String text(GroupMember member) {
        Map<String, String> texts = new TreeMap<>();
        member.getCurrentMembers().forEach((name, data) -> texts.put(name, new String(data)));
        return texts.toString();
    }

    private static void gather(CuratorFramework first, CuratorFramework second) throws Exception {
        GroupMember mine = new GroupMember(first, "/group", "mine", Clients.bytes("1"));
        GroupMember theirs = new GroupMember(second, "/group", "theirs", Clients.bytes("2"));
        mine.start();
        theirs.start();
        Clients.until(() -> text(mine).equals("{mine=1, theirs=2}"));
        Clients.until(() -> text(theirs).equals("{mine=1, theirs=2}"));
        System.out.println("both see both");
        theirs.setThisData(Clients.bytes("3"));
        Clients.until(() -> text(mine).equals("{mine=1, theirs=3}"));
        System.out.println("one sees the other's data change");
        theirs.close();
        Clients.until(() -> text(mine).equals("{mine=1}"));
        System.out.println("one sees the other go");
        mine.close();
    }
}
