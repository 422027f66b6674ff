package curator;

import java.util.Collection;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** So many leases and no more; one given back is one for the next. */
public final class Semaphores {
    private static final int PATIENCE_MS = Clients.PATIENCE_SECONDS * 1000;

    private Semaphores() {}

    public static void main(String[] arguments) throws Exception {
        try (CuratorFramework first = Clients.start(arguments[0]);
                CuratorFramework second = Clients.start(arguments[0])) {
            InterProcessSemaphoreV2 mine = new InterProcessSemaphoreV2(first, "/semaphore", 3);
            InterProcessSemaphoreV2 theirs = new InterProcessSemaphoreV2(second, "/semaphore", 3);
            Collection<Lease> pair = mine.acquire(2);
            take(theirs, "the third", PATIENCE_MS);
            take(theirs, "a fourth", 300);
            Clients.tell("leases", theirs.getParticipantNodes().size());
            mine.returnAll(pair);
            take(theirs, "a fourth after two came back", PATIENCE_MS);
            Clients.tell("leases", mine.getParticipantNodes().size());
            Clients.endSession(second, arguments[0]);
            Collection<Lease> all = mine.acquire(3, Clients.PATIENCE_SECONDS, TimeUnit.SECONDS);
            Clients.tell("after the other has died", all.size());
            mine.returnAll(all);
        }
    }

    private static void take(InterProcessSemaphoreV2 semaphore, String what, int timeoutMs)
            throws Exception {
        Lease lease = semaphore.acquire(timeoutMs, TimeUnit.MILLISECONDS);
        Clients.tell(what, lease != null);
    }
}
