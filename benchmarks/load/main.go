// Load for the coordinators of one broker; what was measured is printed as JSON.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func quantile(values []float64, part float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))]
}

func main() {
	address := flag.String("address", "127.0.0.1:9092", "of the broker")
	members := flag.Int("members", 1, "join: of each group")
	rounds := flag.Int("rounds", 10, "join: how many groups, one after the other")
	beat := flag.Duration("beat", 20*time.Millisecond, "join: between heartbeats")
	seconds := flag.Float64("seconds", 3, "how long to measure")
	partitions := flag.Int("partitions", 1, "commit: in each request; produce: of the topic")
	producers := flag.Int("producers", 1, "transact: at once")
	size := flag.Int("size", 100, "produce: bytes of a value")
	transaction := flag.Int("transaction", 0, "produce: records in a transaction; 0: no transactions")
	must(flag.CommandLine.Parse(os.Args[2:]))
	topic := fmt.Sprintf("load-%d", *partitions)
	create(*address, topic, *partitions)
	var found map[string]any
	switch os.Args[1] {
	case "join":
		found = joinAll(*address, *members, *rounds, *beat)
	case "commit":
		found = commitAll(*address, topic, *partitions, *seconds)
	case "transact":
		found = transact(*address, topic, *producers, *seconds)
	case "produce":
		found = produce(*address, topic, *size, *transaction, *seconds)
	default:
		must(fmt.Errorf("no such load: %s", os.Args[1]))
	}
	must(json.NewEncoder(os.Stdout).Encode(found))
}
