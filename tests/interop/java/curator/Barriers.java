package curator;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.zookeeper.KeeperException;

/** A barrier holds all until it is lifted; a double one until all are there, and all have done. */
public final class Barriers {
    private Barriers() {}

    public static void main(String[] arguments) throws Exception {
        try (CuratorFramework first = Clients.start(arguments[0]);
                CuratorFramework second = Clients.start(arguments[0])) {
            single(first, second);
            together(first, second);
        }
    }

    private static void single(CuratorFramework first, CuratorFramework second) throws Exception {
        DistributedBarrier keeper = new DistributedBarrier(first, "/barrier");
        DistributedBarrier walker = new DistributedBarrier(second, "/barrier");
        Clients.tell("no barrier", walker.waitOnBarrier(0, TimeUnit.SECONDS));
        keeper.setBarrier();
        Clients.tell("a barrier", walker.waitOnBarrier(200, TimeUnit.MILLISECONDS));
        Thread lifter = new Thread(() -> lift(keeper));
        lifter.start();
        Clients.tell("lifted", walker.waitOnBarrier(Clients.PATIENCE_SECONDS, TimeUnit.SECONDS));
        lifter.join();
    }

    private static void lift(DistributedBarrier barrier) {
        try {
            barrier.removeBarrier();
        } catch (Exception failure) {
            Clients.tell("failed", failure);
        }
    }

    private static void together(CuratorFramework first, CuratorFramework second) throws Exception {
        DistributedDoubleBarrier lonely = new DistributedDoubleBarrier(first, "/lonely", 2);
        Clients.tell("alone", lonely.enter(200, TimeUnit.MILLISECONDS));
        DistributedDoubleBarrier mine = new DistributedDoubleBarrier(first, "/double", 2);
        DistributedDoubleBarrier theirs = new DistributedDoubleBarrier(second, "/double", 2);
        boolean[] passed = new boolean[2];
        Thread other = new Thread(() -> passed[1] = passes(theirs));
        other.start();
        passed[0] = passes(mine);
        other.join();
        Clients.tell("together", passed[0] && passed[1]);
        Clients.tell("left behind", leftBehind(first, "/double"));
    }

    /** What is there still; once a minute a server removes a container that is empty. */
    private static List<String> leftBehind(CuratorFramework client, String path) throws Exception {
        try {
            return client.getChildren().forPath(path);
        } catch (KeeperException.NoNodeException gone) {
            return List.of();
        }
    }

    private static boolean passes(DistributedDoubleBarrier barrier) {
        try {
            return barrier.enter(Clients.PATIENCE_SECONDS, TimeUnit.SECONDS)
                    && barrier.leave(Clients.PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (Exception failure) {
            Clients.tell("failed", failure);
            return false;
        }
    }
}
