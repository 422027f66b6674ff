package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func client(address, topic string, options ...kgo.Opt) *kgo.Client {
	given := []kgo.Opt{kgo.SeedBrokers(address), kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(kgo.NoCompression())}
	made, err := kgo.NewClient(append(given, options...)...)
	must(err)
	return made
}

// create makes a topic, and waits for its leaders; one that is there will do.
func create(address, topic string, partitions int) {
	c := client(address, topic)
	defer c.Close()
	request := kmsg.NewPtrCreateTopicsRequest()
	wanted := kmsg.NewCreateTopicsRequestTopic()
	wanted.Topic, wanted.NumPartitions, wanted.ReplicationFactor = topic, int32(partitions), 1
	request.Topics = append(request.Topics, wanted)
	_, err := request.RequestWith(context.Background(), c)
	must(err)
}

// transact measures transactions of one record each, by several producers.
func transact(address, topic string, producers int, seconds float64) map[string]any {
	ctx := context.Background()
	var done atomic.Int64
	var wait sync.WaitGroup
	var lock sync.Mutex
	var spent []float64
	clients := make([]*kgo.Client, producers)
	one := func(c *kgo.Client) {
		must(c.BeginTransaction())
		must(c.ProduceSync(ctx, &kgo.Record{Value: make([]byte, 100)}).FirstErr())
		must(c.EndTransaction(ctx, kgo.TryCommit))
	}
	for number := range clients {
		clients[number] = client(address, topic, kgo.TransactionalID(fmt.Sprintf("small-%d", number)), kgo.ProducerLinger(0))
		one(clients[number])
	}
	begun := time.Now()
	end := begun.Add(time.Duration(seconds * float64(time.Second)))
	for _, c := range clients {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for time.Now().Before(end) {
				start := time.Now()
				one(c)
				done.Add(1)
				lock.Lock()
				spent = append(spent, float64(time.Since(start).Microseconds())/1000)
				lock.Unlock()
			}
		}()
	}
	wait.Wait()
	passed := time.Since(begun).Seconds()
	for _, c := range clients {
		c.Close()
	}
	return map[string]any{"operations": done.Load(), "per_s": float64(done.Load()) / passed, "p50_ms": quantile(spent, 0.5)}
}

// produce measures how many records a second are acknowledged; with a size, in transactions of it.
func produce(address, topic string, size, transaction int, seconds float64) map[string]any {
	ctx := context.Background()
	options := []kgo.Opt{kgo.MaxBufferedRecords(100_000), kgo.MaxBufferedBytes(128 << 20), kgo.ProducerBatchMaxBytes(1_000_000)}
	if transaction > 0 {
		options = append(options, kgo.TransactionalID("large"))
	}
	c := client(address, topic, options...)
	defer c.Close()
	var acked atomic.Int64
	report := func(_ *kgo.Record, err error) {
		must(err)
		acked.Add(1)
	}
	value := make([]byte, size)
	begin := func() {
		if transaction > 0 {
			must(c.BeginTransaction())
		}
	}
	finish := func() {
		must(c.Flush(ctx))
		if transaction > 0 {
			must(c.EndTransaction(ctx, kgo.TryCommit))
		}
	}
	begin()
	must(c.ProduceSync(ctx, &kgo.Record{Value: value}).FirstErr())
	finish()
	begun := time.Now()
	end := begun.Add(time.Duration(seconds * float64(time.Second)))
	for time.Now().Before(end) {
		begin()
		for count := 0; (transaction == 0 || count < transaction) && (count%1000 != 0 || time.Now().Before(end)); count++ {
			c.Produce(ctx, &kgo.Record{Value: value}, report)
		}
		finish()
	}
	passed := time.Since(begun).Seconds()
	return map[string]any{"operations": acked.Load(), "per_s": float64(acked.Load()) / passed}
}
