package client;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/** A session that keeps what it was told, in order, until somebody asks. */
public final class Witness implements Watcher, AutoCloseable {
    public static final int LONG_MS = 30_000;
    private static final int PATIENCE_SECONDS = 30;

    public final ZooKeeper zookeeper;
    private final BlockingQueue<WatchedEvent> heard = new LinkedBlockingQueue<>();

    private Witness(String servers, int timeoutMs, long id, byte[] password) throws Exception {
        zookeeper = new ZooKeeper(servers, timeoutMs, this, id, password);
    }

    /** A new session, connected. */
    public static Witness of(String servers, int timeoutMs) throws Exception {
        Witness witness = new Witness(servers, timeoutMs, 0, new byte[16]);
        witness.await(KeeperState.SyncConnected);
        return witness;
    }

    public static Witness of(String servers) throws Exception {
        return of(servers, LONG_MS);
    }

    /** Somebody who claims to be a session that exists already; not yet connected. */
    public static Witness claiming(String servers, long id, byte[] password) throws Exception {
        return new Witness(servers, LONG_MS, id, password);
    }

    @Override
    public void process(WatchedEvent event) {
        heard.add(event);
    }

    /** Wait for the state, and forget it and all before. */
    public void await(KeeperState state) throws Exception {
        while (next().getState() != state) {
            continue;
        }
    }

    /** The next event, which must come. */
    public WatchedEvent next() throws Exception {
        WatchedEvent event = heard.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (event == null) {
            throw new AssertionError("nothing was heard");
        }
        return event;
    }

    /** Print all that was heard by the time the server has answered one more request. */
    public void tell(String cause) throws Exception {
        CountDownLatch answered = new CountDownLatch(1);
        zookeeper.sync("/", (code, path, context) -> answered.countDown(), null);
        if (!answered.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("no answer");
        }
        System.out.println(cause);
        while (!heard.isEmpty()) {
            System.out.println("    " + Text.of(next()));
        }
    }

    @Override
    public void close() throws InterruptedException {
        zookeeper.close();
    }
}
