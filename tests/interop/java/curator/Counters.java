package curator;

import java.util.ArrayList;
import java.util.List;
import org.apache.curator.RetryPolicy;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.VersionedValue;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Numbers that many change: every change counts once, and everybody learns of it. */
public final class Counters {
    private static final int THREADS = 4;
    private static final int ROUNDS = 10;
    private static final RetryPolicy PATIENT = new ExponentialBackoffRetry(5, 20);

    private Counters() {}

    public static void main(String[] arguments) throws Exception {
        try (CuratorFramework first = Clients.start(arguments[0]);
                CuratorFramework second = Clients.start(arguments[0])) {
            share(first, second);
            calculate(new DistributedAtomicLong(first, "/long", PATIENT));
            race(List.of(first, second));
        }
    }

    private static void share(CuratorFramework first, CuratorFramework second) throws Exception {
        try (SharedCount mine = new SharedCount(first, "/count", 7);
                SharedCount theirs = new SharedCount(second, "/count", 9)) {
            mine.start();
            theirs.start();
            Clients.tell("who came first chose", mine.getCount());
            Clients.tell("who came later follows", theirs.getCount());
            VersionedValue<Integer> old = theirs.getVersionedValue();
            mine.setCount(8);
            Clients.until(() -> theirs.getCount() == 8);
            Clients.tell("learned", theirs.getVersionedValue().getVersion());
            Clients.tell("at an old version", theirs.trySetCount(old, 10));
            VersionedValue<Integer> now = theirs.getVersionedValue();
            Clients.tell("at the version", theirs.trySetCount(now, 10));
            Clients.until(() -> mine.getCount() == 10);
            Clients.tell("learned", mine.getVersionedValue().getVersion());
        }
    }

    private static void tell(String what, AtomicValue<Long> value) {
        String values = value.preValue() + " " + value.postValue();
        System.out.println(what + ": " + value.succeeded() + " " + values);
    }

    private static void calculate(DistributedAtomicLong number) throws Exception {
        Clients.tell("initialize", number.initialize(40L));
        Clients.tell("initialize again", number.initialize(50L));
        tell("get", number.get());
        tell("increment", number.increment());
        tell("add", number.add(9L));
        tell("subtract", number.subtract(20L));
        tell("compare and set", number.compareAndSet(30L, 3L));
        tell("compare and set in vain", number.compareAndSet(30L, 4L));
        tell("try set", number.trySet(5L));
        number.forceSet(6L);
        tell("get", number.get());
    }

    private static void race(List<CuratorFramework> clients) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int each = 0; each < THREADS; each++) {
            CuratorFramework client = clients.get(each % clients.size());
            threads.add(new Thread(() -> count(client)));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        tell("all counted", new DistributedAtomicLong(clients.get(0), "/race", null).get());
    }

    private static void count(CuratorFramework client) {
        DistributedAtomicLong number = new DistributedAtomicLong(client, "/race", PATIENT);
        try {
            for (int done = 0; done < ROUNDS; ) {
                done += number.increment().succeeded() ? 1 : 0;
            }
        } catch (Exception failure) {
            Clients.tell("failed", failure);
        }
    }
}
