package curator;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;

/** Two who queue again after each turn lead by turns; a lost session ends a turn early. */
public final class LeaderSelectors {
    private LeaderSelectors() {}

    /** Leads until told to let go. */
    private static final class Candidate extends LeaderSelectorListenerAdapter {
        private static final BlockingQueue<String> TURNS = new LinkedBlockingQueue<>();
        final BlockingQueue<String> letGo = new SynchronousQueue<>();
        final String name;

        Candidate(String name) {
            this.name = name;
        }

        @Override
        public void takeLeadership(CuratorFramework client) throws Exception {
            TURNS.add(name);
            letGo.take();
        }

        static String next() throws Exception {
            return TURNS.poll(Clients.PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Candidate a = new Candidate("a");
        Candidate b = new Candidate("b");
        try (CuratorFramework first = Clients.start(arguments[0]);
                CuratorFramework second = Clients.start(arguments[0]);
                LeaderSelector selectorA = queued(first, a);
                LeaderSelector selectorB = queued(second, b, selectorA)) {
            for (int turn = 0; turn < 3; turn++) {
                turn(a, selectorA, selectorB);
                turn(b, selectorA, selectorB);
            }
            System.out.println(Candidate.next() + " leads");
            Clients.endSession(first, arguments[0]);
            System.out.println(Candidate.next() + " leads after the other's session has ended");
        }
    }

    private static LeaderSelector queued(CuratorFramework client, Candidate candidate) {
        LeaderSelector selector = new LeaderSelector(client, "/selector", candidate);
        selector.setId(candidate.name);
        selector.autoRequeue();
        selector.start();
        return selector;
    }

    private static LeaderSelector queued(
            CuratorFramework client, Candidate candidate, LeaderSelector before) throws Exception {
        Clients.until(before::hasLeadership);
        LeaderSelector selector = queued(client, candidate);
        Clients.until(() -> selector.getParticipants().size() == 2);
        return selector;
    }

    private static void turn(Candidate expected, LeaderSelector one, LeaderSelector other)
            throws Exception {
        String leader = Candidate.next();
        Clients.until(() -> one.getParticipants().size() == 2);
        String seen = one.getLeader().getId() + " and " + other.getLeader().getId();
        System.out.println(leader + " leads; they see " + seen);
        expected.letGo.offer("now", Clients.PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
}
