package curator;

import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/** What all the recipes' programs need. */
final class Clients {
    static final int PATIENCE_SECONDS = 30;
    private static final int SESSION_MS = 30_000;
    private static final int CONNECTION_MS = 15_000;
    private static final int PAUSE_MS = 20;

    private Clients() {}

    /** A client that is connected. */
    static CuratorFramework start(String server) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(
                server, SESSION_MS, CONNECTION_MS, new ExponentialBackoffRetry(100, 5));
        client.start();
        if (!client.blockUntilConnected(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("not connected");
        }
        return client;
    }

    /** Look again and again until it is so; a znode that is not there yet counts as no. */
    static void until(Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!holds(condition)) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("waited in vain");
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        }
    }

    private static boolean holds(Callable<Boolean> condition) throws Exception {
        try {
            return condition.call();
        } catch (KeeperException.NoNodeException notYet) {
            return false;
        }
    }

    /** End a client's session at the server, as if it had expired. */
    static void endSession(CuratorFramework client, String server) throws Exception {
        ZooKeeper mine = client.getZookeeperClient().getZooKeeper();
        CountDownLatch connected = new CountDownLatch(1);
        Watcher waiting = event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
            }
        };
        ZooKeeper twin = new ZooKeeper(
                server, SESSION_MS, waiting, mine.getSessionId(), mine.getSessionPasswd());
        if (!connected.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("nobody lets the twin in");
        }
        twin.close();
    }

    static void tell(String what, Object seen) {
        System.out.println(what + ": " + seen);
    }

    static byte[] bytes(String text) {
        return text.getBytes();
    }
}
