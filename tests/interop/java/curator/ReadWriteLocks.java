package curator;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

/** Many readers or one writer; a writer may become a reader without letting go. */
public final class ReadWriteLocks {
    private ReadWriteLocks() {}

    public static void main(String[] arguments) throws Exception {
        try (CuratorFramework first = Clients.start(arguments[0]);
                CuratorFramework second = Clients.start(arguments[0])) {
            InterProcessReadWriteLock mine = new InterProcessReadWriteLock(first, "/readwrite");
            InterProcessReadWriteLock theirs = new InterProcessReadWriteLock(second, "/readwrite");
            mine.readLock().acquire();
            attempt("read while it is read", theirs.readLock());
            attempt("write while it is read", theirs.writeLock());
            mine.readLock().release();
            mine.writeLock().acquire();
            attempt("read while it is written", theirs.readLock());
            attempt("write while it is written", theirs.writeLock());
            mine.readLock().acquire();
            mine.writeLock().release();
            attempt("read after the writer became a reader", theirs.readLock());
            attempt("write after the writer became a reader", theirs.writeLock());
            mine.readLock().release();
            attempt("write after all", theirs.writeLock());
        }
    }

    private static void attempt(String what, InterProcessMutex lock) throws Exception {
        boolean isTaken = lock.acquire(0, TimeUnit.SECONDS);
        Clients.tell(what, isTaken);
        if (isTaken) {
            lock.release();
        }
    }
}
