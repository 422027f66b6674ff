package client;

import java.util.List;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;

/** What each part of a multi came to. */
final class Results {
    private Results() {}

    static String text(List<OpResult> results) {
        if (results == null) {
            return "none";
        }
        return results.stream().map(Results::text).collect(Collectors.joining("; "));
    }

    private static String text(OpResult result) {
        if (result instanceof OpResult.ErrorResult) {
            return "refused " + Code.get(((OpResult.ErrorResult) result).getErr());
        }
        if (result instanceof OpResult.CreateResult) {
            OpResult.CreateResult created = (OpResult.CreateResult) result;
            return "created " + created.getPath() + " " + Text.of(created.getStat());
        }
        if (result instanceof OpResult.SetDataResult) {
            return "set " + Text.of(((OpResult.SetDataResult) result).getStat());
        }
        if (result instanceof OpResult.GetDataResult) {
            OpResult.GetDataResult found = (OpResult.GetDataResult) result;
            return "data " + Text.of(found.getData()) + " " + Text.of(found.getStat());
        }
        if (result instanceof OpResult.GetChildrenResult) {
            return "children " + Text.of(((OpResult.GetChildrenResult) result).getChildren());
        }
        return result.getClass().getSimpleName();
    }
}
