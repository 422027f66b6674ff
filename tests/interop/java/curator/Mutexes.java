package curator;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** One at a time; who holds it may take it again; who dies lets go. */
public final class Mutexes {
    private static final int ROUNDS = 20;

    private Mutexes() {}

    public static void main(String[] arguments) throws Exception {
        try (CuratorFramework first = Clients.start(arguments[0]);
                CuratorFramework second = Clients.start(arguments[0])) {
            InterProcessMutex mine = new InterProcessMutex(first, "/mutex");
            InterProcessMutex theirs = new InterProcessMutex(second, "/mutex");
            refuse(mine, theirs);
            exclude(mine, theirs);
            mine.acquire();
            Clients.endSession(first, arguments[0]);
            boolean isTaken = theirs.acquire(Clients.PATIENCE_SECONDS, TimeUnit.SECONDS);
            Clients.tell("taken from the dead", isTaken);
            theirs.release();
        }
    }

    private static void refuse(InterProcessMutex mine, InterProcessMutex theirs) throws Exception {
        mine.acquire();
        mine.acquire();
        Clients.tell("while it is held", theirs.acquire(0, TimeUnit.SECONDS));
        mine.release();
        Clients.tell("while it is held once more", theirs.acquire(0, TimeUnit.SECONDS));
        for (String node : mine.getParticipantNodes()) {
            Clients.tell("the holder", node.replaceAll(".*lock-", "lock-"));
        }
        mine.release();
        Clients.tell("after that", theirs.acquire(0, TimeUnit.SECONDS));
        theirs.release();
    }

    private static void exclude(InterProcessMutex mine, InterProcessMutex theirs) throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Thread thread = new Thread(() -> take(theirs, inside, most));
        thread.start();
        take(mine, inside, most);
        thread.join();
        Clients.tell("at most inside at once", most);
    }

    private static void take(InterProcessMutex mutex, AtomicInteger inside, AtomicInteger most) {
        try {
            for (int round = 0; round < ROUNDS; round++) {
                mutex.acquire();
                most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                inside.decrementAndGet();
                mutex.release();
            }
        } catch (Exception failure) {
            Clients.tell("failed", failure);
        }
    }
}
