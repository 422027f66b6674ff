package kafka;

import java.util.List;

/** A member in a process of its own, which says when it has partitions, and then may be killed. */
public final class LoneMember {
    private LoneMember() {}

    public static void main(String[] arguments) {
        Member member = new Member(arguments[0], arguments[1], List.of(arguments[2]));
        Member.until(() -> !member.has().isEmpty(), member);
        System.out.println("joined");
        Member.until(() -> false, member);
    }
}
