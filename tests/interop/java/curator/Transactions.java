package curator;

import static org.apache.zookeeper.CreateMode.EPHEMERAL;
import static org.apache.zookeeper.CreateMode.PERSISTENT_SEQUENTIAL;

import java.util.List;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.api.transaction.CuratorTransactionResult;
import org.apache.curator.framework.api.transaction.TransactionOp;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/** Several changes as one, written the way of Curator. */
public final class Transactions {
    private Transactions() {}

    public static void main(String[] arguments) throws Exception {
        try (CuratorFramework client = Clients.start(arguments[0])) {
            TransactionOp part = client.transactionOp();
            commit(client, "create",
                    part.create().forPath("/together", Clients.bytes("1")),
                    part.create().withMode(PERSISTENT_SEQUENTIAL).forPath("/together/n-"),
                    part.create().withMode(EPHEMERAL).forPath("/together/e"));
            commit(client, "change",
                    part.check().withVersion(0).forPath("/together"),
                    part.setData().withVersion(0).forPath("/together", Clients.bytes("2")),
                    part.delete().forPath("/together/e"));
            commit(client, "refused",
                    part.setData().forPath("/together", Clients.bytes("3")),
                    part.check().withVersion(0).forPath("/together"),
                    part.delete().forPath("/together/n-0000000000"));
            Stat stat = client.checkExists().forPath("/together");
            Clients.tell("version", stat.getVersion());
            Clients.tell("children", client.getChildren().forPath("/together"));
        }
    }

    private static void commit(CuratorFramework client, String what, CuratorOp... parts)
            throws Exception {
        String outcome;
        try {
            outcome = client.transaction().forOperations(parts).stream()
                    .map(Transactions::text)
                    .collect(Collectors.joining("; "));
        } catch (KeeperException refusal) {
            outcome = refusal.code() + " " + refusal.getPath() + " after " + results(refusal);
        }
        Clients.tell(what, outcome);
    }

    private static List<String> results(KeeperException refusal) {
        return refusal.getResults().stream()
                .map(each -> each.getClass().getSimpleName())
                .collect(Collectors.toList());
    }

    private static String text(CuratorTransactionResult result) {
        Stat stat = result.getResultStat();
        String version = stat == null ? "" : " version " + stat.getVersion();
        String paths = result.getForPath() + " " + result.getResultPath();
        return result.getType() + " " + paths + version;
    }
}
