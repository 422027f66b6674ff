// A walk through franz-go against one broker: it prints what it was answered.
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const startMs = 1_700_000_000_000

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func client(address string, options ...kgo.Opt) *kgo.Client {
	options = append(options, kgo.SeedBrokers(address))
	made, err := kgo.NewClient(options...)
	must(err)
	return made
}

// produce sends records with keys and headers to the first partition of a topic.
func produce(ctx context.Context, address, topic string, codec kgo.CompressionCodec, idempotent bool) {
	options := []kgo.Opt{
		kgo.ProducerBatchCompression(codec),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
	}
	if !idempotent {
		options = append(options, kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.LeaderAck()))
	}
	producer := client(address, options...)
	defer producer.Close()
	for number := 0; number < 50; number++ {
		record := &kgo.Record{
			Topic:     topic,
			Key:       []byte(fmt.Sprintf("key %d", number%3)),
			Value:     []byte(fmt.Sprintf("value %d", number)),
			Timestamp: time.UnixMilli(startMs + int64(number)),
			Headers:   []kgo.RecordHeader{{Key: "number", Value: []byte(fmt.Sprint(number))}},
		}
		must(producer.ProduceSync(ctx, record).FirstErr())
	}
}

// consume prints all records of the first partition of a topic, by assignment.
func consume(ctx context.Context, address, topic string, count int) {
	start := kgo.NewOffset().AtStart()
	places := map[string]map[int32]kgo.Offset{topic: {0: start}}
	consumer := client(address, kgo.ConsumePartitions(places))
	defer consumer.Close()
	for seen := 0; seen < count; {
		fetches := consumer.PollFetches(ctx)
		must(fetches.Err())
		fetches.EachRecord(func(record *kgo.Record) {
			seen++
			fmt.Println(record.Offset, record.LeaderEpoch, record.Timestamp.UnixMilli(),
				string(record.Key), string(record.Value), record.Headers[0].Key, string(record.Headers[0].Value))
		})
	}
}

func administer(ctx context.Context, address, topic string) {
	admin := kadm.NewClient(client(address))
	defer admin.Close()
	described, err := admin.DescribeTopicConfigs(ctx, topic)
	must(err)
	configs := described[0].Configs
	sort.Slice(configs, func(a, b int) bool { return configs[a].Key < configs[b].Key })
	for _, config := range configs {
		fmt.Println(config.Key, config.MaybeValue(), config.Source, config.Sensitive, len(config.Synonyms))
	}
	found, err := admin.ListOffsetsAfterMilli(ctx, startMs+20, topic)
	must(err)
	offset, _ := found.Lookup(topic, 0)
	fmt.Println("after", offset.Offset, offset.Timestamp, offset.LeaderEpoch, offset.Err)
	to := kadm.Offsets{}
	to.AddOffset(topic, 0, 10, -1)
	deleted, err := admin.DeleteRecords(ctx, to)
	must(err)
	low, _ := deleted.Lookup(topic, 0)
	fmt.Println("low watermark", low.LowWatermark)
	_, err = admin.CreatePartitions(ctx, 2, topic)
	must(err)
	listed, err := admin.ListTopics(ctx, topic)
	must(err)
	fmt.Println("partitions", len(listed[topic].Partitions), listed[topic].Partitions.NumReplicas())
	response, err := admin.DeleteTopic(ctx, topic)
	must(err)
	fmt.Println("deleted", response.Err)
	response, err = admin.DeleteTopic(ctx, topic)
	fmt.Println("deleted again", err)
}

func main() {
	address, name := os.Args[1], os.Args[2]
	topic := "franz-" + name
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	admin := kadm.NewClient(client(address))
	created, err := admin.CreateTopic(ctx, 1, 1, map[string]*string{"segment.bytes": kadm.StringPtr("5000")}, topic)
	must(err)
	fmt.Println(created.Topic, created.NumPartitions, created.ReplicationFactor, created.Err)
	admin.Close()
	produce(ctx, address, topic, codecs[name], true)
	produce(ctx, address, topic, codecs[name], false)
	consume(ctx, address, topic, 100)
	administer(ctx, address, topic)
}
