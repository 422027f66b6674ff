package curator;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.Participant;

/** Who came first leads; when he goes, the next in line does. */
public final class LeaderLatches {
    private LeaderLatches() {}

    public static void main(String[] arguments) throws Exception {
        try (CuratorFramework client = Clients.start(arguments[0]);
                CuratorFramework other = Clients.start(arguments[0])) {
            List<LeaderLatch> line = new ArrayList<>();
            for (String name : List.of("a", "b", "c")) {
                line.add(joined(name.equals("b") ? other : client, name, line.size() + 1));
            }
            while (!line.isEmpty()) {
                LeaderLatch first = line.remove(0);
                first.await();
                System.out.println(first.getId() + " leads " + standing(first));
                first.close();
            }
        }
    }

    private static LeaderLatch joined(CuratorFramework client, String name, int count)
            throws Exception {
        LeaderLatch latch = new LeaderLatch(client, "/latch", name);
        latch.start();
        Clients.until(() -> latch.getParticipants().size() == count);
        return latch;
    }

    private static String standing(LeaderLatch latch) throws Exception {
        Clients.until(() -> latch.getLeader().getId().equals(latch.getId()));
        return latch.getParticipants().stream()
                .map(Participant::toString)
                .sorted()
                .collect(Collectors.joining(", "));
    }
}
