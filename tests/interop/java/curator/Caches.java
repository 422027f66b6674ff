package curator;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.zookeeper.CreateMode;

/** A copy of a subtree that follows it, by one recursive watch. */
public final class Caches {
    private static final BlockingQueue<String> HEARD = new LinkedBlockingQueue<>();

    private Caches() {}

    public static void main(String[] arguments) throws Exception {
        try (CuratorFramework client = Clients.start(arguments[0]);
                CuratorFramework doer = Clients.start(arguments[0]);
                CuratorCache cache = CuratorCache.build(client, "/cache")) {
            doer.create().creatingParentsIfNeeded().forPath("/cache/before", Clients.bytes("1"));
            cache.listenable().addListener(CuratorCacheListener.builder()
                    .forAll(Caches::hear)
                    .forInitialized(() -> HEARD.add("initialized"))
                    .build());
            cache.start();
            tell("what was there", 3);
            follow(doer);
            Clients.tell("copied", cache.size());
            reconnect(client, doer, arguments[0]);
        }
    }

    private static void hear(CuratorCacheListener.Type type, ChildData before, ChildData after) {
        HEARD.add(type + " " + text(before) + " " + text(after));
    }

    private static String text(ChildData data) {
        return data == null ? "-" : data.getPath() + "@" + data.getStat().getVersion();
    }

    private static void tell(String what, int count) throws Exception {
        System.out.println(what);
        for (int each = 0; each < count; each++) {
            System.out.println("    " + HEARD.poll(Clients.PATIENCE_SECONDS, TimeUnit.SECONDS));
        }
    }

    private static void follow(CuratorFramework doer) throws Exception {
        doer.create().forPath("/cache/new", Clients.bytes("2"));
        tell("created", 1);
        doer.setData().forPath("/cache/new", Clients.bytes("3"));
        tell("changed", 1);
        doer.create().forPath("/cache/a");
        doer.create().withMode(CreateMode.EPHEMERAL).forPath("/cache/a/e");
        tell("created deeper", 2);
        doer.delete().forPath("/cache/new");
        tell("deleted", 1);
    }

    private static void reconnect(CuratorFramework client, CuratorFramework doer, String server)
            throws Exception {
        Clients.endSession(client, server);
        doer.setData().forPath("/cache/before", Clients.bytes("4"));
        tell("changed while the session was lost", 1);
        doer.delete().deletingChildrenIfNeeded().forPath("/cache/a");
        tell("deleted with its child", 2);
    }
}
