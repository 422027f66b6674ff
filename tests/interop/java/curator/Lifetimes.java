package curator;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;

/** What the server removes by itself: containers that are empty again, and what is out of time. */
public final class Lifetimes {
    private static final long SHORT_MS = 2_000;
    private static final long LONG_MS = 3_600_000;

    private Lifetimes() {}

    public static void main(String[] arguments) throws Exception {
        try (CuratorFramework client = Clients.start(arguments[0])) {
            client.create().forPath("/lifetimes");
            contain(client);
            pass(client);
            keep(client);
        }
    }

    private static boolean isGone(CuratorFramework client, String name) throws Exception {
        return client.checkExists().forPath("/lifetimes" + name) == null;
    }

    private static void contain(CuratorFramework client) throws Exception {
        client.create().creatingParentContainersIfNeeded().forPath("/lifetimes/box/inner/child");
        client.create().withMode(CreateMode.CONTAINER).forPath("/lifetimes/unused");
        client.delete().forPath("/lifetimes/box/inner/child");
        Clients.until(() -> isGone(client, "/box"));
        System.out.println("containers go, from the inside out");
        Clients.tell("one that never had a child is gone", isGone(client, "/unused"));
    }

    private static String create(CuratorFramework client, String name, long ttl, CreateMode mode)
            throws Exception {
        return client.create().withTtl(ttl).withMode(mode).forPath("/lifetimes" + name);
    }

    private static void pass(CuratorFramework client) throws Exception {
        create(client, "/hour", LONG_MS, CreateMode.PERSISTENT_WITH_TTL);
        String path = create(client, "/n-", LONG_MS, CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL);
        Clients.tell("numbered", path);
        create(client, "/short", SHORT_MS, CreateMode.PERSISTENT_WITH_TTL);
        Clients.until(() -> isGone(client, "/short"));
        Clients.tell("the short one goes; the long one is gone", isGone(client, "/hour"));
    }

    private static void keep(CuratorFramework client) throws Exception {
        create(client, "/kept", SHORT_MS, CreateMode.PERSISTENT_WITH_TTL);
        client.create().forPath("/lifetimes/kept/child");
        create(client, "/after", SHORT_MS, CreateMode.PERSISTENT_WITH_TTL);
        Clients.until(() -> isGone(client, "/after"));
        Clients.tell("one with a child is gone", isGone(client, "/kept"));
        client.delete().forPath("/lifetimes/kept/child");
        Clients.until(() -> isGone(client, "/kept"));
        System.out.println("without the child it goes");
    }
}
