// Groups and transactions by franz-go against one broker: it prints what came of them.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	partitions = 4
	records    = 60
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func client(address string, options ...kgo.Opt) *kgo.Client {
	made, err := kgo.NewClient(append(options, kgo.SeedBrokers(address))...)
	must(err)
	return made
}

func fill(ctx context.Context, address, topic string) {
	producer := client(address, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	defer producer.Close()
	for number := 0; number < records; number++ {
		record := &kgo.Record{Topic: topic, Partition: int32(number % partitions), Value: []byte(fmt.Sprint(number))}
		must(producer.ProduceSync(ctx, record).FirstErr())
	}
}

func member(address, group, topic string, options ...kgo.Opt) *kgo.Client {
	return client(address, append(options,
		kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(),
		kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(200*time.Millisecond))...)
}

// settled waits until a group is stable and its members have these numbers of partitions.
func settled(ctx context.Context, admin *kadm.Client, group string, wanted ...int) kadm.DescribedGroup {
	for {
		must(ctx.Err())
		described, err := admin.DescribeGroups(ctx, group)
		if err != nil { // Its coordinator is still being set up.
			time.Sleep(20 * time.Millisecond)
			continue
		}
		found := described[group]
		sizes := []int{}
		for _, each := range found.Members {
			count := 0
			if assigned, ok := each.Assigned.AsConsumer(); ok {
				for _, topic := range assigned.Topics {
					count += len(topic.Partitions)
				}
			}
			sizes = append(sizes, count)
		}
		sort.Ints(sizes)
		if found.State == "Stable" && fmt.Sprint(sizes) == fmt.Sprint(wanted) {
			fmt.Println(group, found.State, found.ProtocolType, found.Protocol, sizes)
			return found
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func polling(ctx context.Context, member *kgo.Client) {
	for ctx.Err() == nil && !member.PollFetches(ctx).IsClientClosed() {
	}
}

// rebalance lets members come and go, one way and the other.
func rebalance(ctx context.Context, admin *kadm.Client, address, topic string) {
	for _, balancer := range []kgo.GroupBalancer{kgo.RangeBalancer(), kgo.CooperativeStickyBalancer()} {
		group := topic + "." + balancer.ProtocolName()
		first := member(address, group, topic, kgo.Balancers(balancer))
		go polling(ctx, first)
		settled(ctx, admin, group, 4)
		second := member(address, group, topic, kgo.Balancers(balancer))
		go polling(ctx, second)
		settled(ctx, admin, group, 2, 2)
		third := member(address, group, topic, kgo.Balancers(balancer))
		go polling(ctx, third)
		settled(ctx, admin, group, 1, 1, 2)
		second.Close()
		settled(ctx, admin, group, 2, 2)
		third.Close()
		settled(ctx, admin, group, 4)
		first.Close()
	}
}

// remain shows that a static member that returns in time moves nobody.
func remain(ctx context.Context, admin *kadm.Client, address, topic string) {
	group := topic + ".static"
	first := member(address, group, topic, kgo.InstanceID("a"), kgo.Balancers(kgo.RangeBalancer()))
	second := member(address, group, topic, kgo.InstanceID("b"), kgo.Balancers(kgo.RangeBalancer()))
	go polling(ctx, first)
	go polling(ctx, second)
	settled(ctx, admin, group, 2, 2)
	second.Close()
	again := member(address, group, topic, kgo.InstanceID("b"), kgo.Balancers(kgo.RangeBalancer()))
	_, generation := first.GroupMetadata()
	go polling(ctx, again)
	settled(ctx, admin, group, 2, 2)
	_, after := first.GroupMetadata()
	fmt.Println("generations since", after-generation)
	again.Close()
	left, err := admin.LeaveGroup(ctx, kadm.LeaveGroup(group).InstanceIDs("b", "z").Reason("tested"))
	must(err)
	for _, each := range left.Sorted() {
		fmt.Println("left", each.InstanceID, each.Err)
	}
	settled(ctx, admin, group, 4)
	first.Close()
}

func commit(ctx context.Context, admin *kadm.Client, topic string) {
	group := topic + ".commits"
	offsets := kadm.Offsets{}
	for partition := int32(0); partition < 3; partition++ {
		offsets.Add(kadm.Offset{Topic: topic, Partition: partition, At: int64(partition) + 5, LeaderEpoch: 0, Metadata: fmt.Sprint("at ", partition)})
	}
	must(admin.CommitAllOffsets(ctx, group, offsets))
	fetched, err := admin.FetchOffsets(ctx, group)
	must(err)
	for _, each := range fetched.Sorted() {
		fmt.Println(each.Topic, each.Partition, each.At, each.LeaderEpoch, each.Metadata, each.Err)
	}
	lags, err := admin.Lag(ctx, group)
	must(err)
	fmt.Println("lag", lags[group].State, lags[group].Lag.Total())
	deleted, err := admin.DeleteGroups(ctx, group)
	must(err)
	fmt.Println("deleted", deleted[group].Err)
	_, err = admin.FetchOffsets(ctx, group)
	fmt.Println("fetched", err)
}

// copy reads, transforms and writes in transactions; every third is aborted and done again.
func copyAll(ctx context.Context, address, source, target string) {
	session, err := kgo.NewGroupTransactSession(kgo.SeedBrokers(address),
		kgo.TransactionalID(source+".copy"), kgo.ConsumerGroup(source+".copy"), kgo.ConsumeTopics(source),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.RequireStableFetchOffsets(),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DefaultProduceTopic(target))
	must(err)
	defer session.Close()
	for seen, turn := 0, 1; seen < records; turn++ {
		fetches := session.PollRecords(ctx, 7)
		must(fetches.Err())
		must(session.Begin())
		for _, each := range fetches.Records() {
			session.Produce(ctx, &kgo.Record{Partition: each.Partition, Value: append([]byte("copy of "), each.Value...)}, nil)
		}
		committed, err := session.End(ctx, turn%3 != 0)
		must(err)
		if committed {
			seen += fetches.NumRecords()
		}
	}
}

// all prints what readers of committed records see.
func all(ctx context.Context, address, topic string, count int) {
	places := map[int32]kgo.Offset{}
	for partition := int32(0); partition < partitions; partition++ {
		places[partition] = kgo.NewOffset().AtStart()
	}
	reader := client(address, kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: places}))
	defer reader.Close()
	lines := []string{}
	for len(lines) < count {
		fetches := reader.PollFetches(ctx)
		must(fetches.Err())
		fetches.EachRecord(func(record *kgo.Record) {
			lines = append(lines, fmt.Sprint(record.Partition, " ", string(record.Value)))
		})
	}
	sort.Strings(lines)
	for _, line := range lines {
		fmt.Println(line)
	}
}

func fence(ctx context.Context, admin *kadm.Client, address, topic string) {
	id := kgo.TransactionalID(topic + ".fenced")
	older := client(address, id, kgo.DefaultProduceTopic(topic))
	must(older.BeginTransaction())
	must(older.ProduceSync(ctx, kgo.StringRecord("by the zombie")).FirstErr())
	newer := client(address, id, kgo.DefaultProduceTopic(topic))
	must(newer.BeginTransaction())
	must(newer.ProduceSync(ctx, kgo.StringRecord("by the living")).FirstErr())
	err := older.EndTransaction(ctx, kgo.TryCommit)
	fmt.Println("fenced", errors.Is(err, kerr.InvalidProducerEpoch) || errors.Is(err, kerr.ProducerFenced))
	must(newer.EndTransaction(ctx, kgo.TryCommit))
	described, err := admin.DescribeTransactions(ctx, topic+".fenced")
	must(err)
	for _, each := range described.Sorted() {
		fmt.Println(each.TxnID, each.ProducerEpoch, each.TimeoutMillis, each.Err)
	}
	older.Close()
	newer.Close()
}

func main() {
	address := os.Args[1]
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	admin := kadm.NewClient(client(address))
	defer admin.Close()
	for _, topic := range []string{"franz-source", "franz-target"} {
		_, err := admin.CreateTopic(ctx, partitions, 1, nil, topic)
		must(err)
	}
	fill(ctx, address, "franz-source")
	rebalance(ctx, admin, address, "franz-source")
	remain(ctx, admin, address, "franz-source")
	commit(ctx, admin, "franz-source")
	copyAll(ctx, address, "franz-source", "franz-target")
	all(ctx, address, "franz-target", records)
	fence(ctx, admin, address, "franz-target")
}
