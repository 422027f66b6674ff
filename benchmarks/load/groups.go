package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	unknownMemberID     = 25
	rebalanceInProgress = 27
	memberIDRequired    = 79
)

// A member's life, in Kafka's classic protocol. It is told of a rebalance by its heartbeats.
type member struct {
	*link
	group, id  string
	generation int32
	size       int // Of the generation; the leader knows it, and tells it in the assignments.
}

// find waits until the coordinator is there: the first who asks has its topic made.
func find(address, group string) *link {
	for {
		l := dial(address)
		request, response := kmsg.NewPtrFindCoordinatorRequest(), kmsg.NewPtrFindCoordinatorResponse()
		request.CoordinatorKey = group
		l.ask(request, 3, response)
		if response.ErrorCode == 0 {
			return l
		}
		l.close()
		time.Sleep(20 * time.Millisecond)
	}
}

func (m *member) join() *kmsg.JoinGroupResponse {
	for {
		request, response := kmsg.NewPtrJoinGroupRequest(), kmsg.NewPtrJoinGroupResponse()
		request.Group, request.MemberID = m.group, m.id
		request.SessionTimeoutMillis, request.RebalanceTimeoutMillis = 30_000, 60_000
		request.ProtocolType = "consumer"
		protocol := kmsg.NewJoinGroupRequestProtocol()
		protocol.Name, protocol.Metadata = "range", make([]byte, 30)
		request.Protocols = append(request.Protocols, protocol)
		m.ask(request, 9, response)
		switch response.ErrorCode {
		case 0:
			m.id, m.generation = response.MemberID, response.Generation
			return response
		case memberIDRequired:
			m.id = response.MemberID
		case unknownMemberID:
			m.id = ""
		case 14, 15, 16: // Its coordinator is not ready yet.
			time.Sleep(10 * time.Millisecond)
		default:
			must(fmt.Errorf("join: %d", response.ErrorCode))
		}
	}
}

func (m *member) sync(joined *kmsg.JoinGroupResponse) int16 {
	request, response := kmsg.NewPtrSyncGroupRequest(), kmsg.NewPtrSyncGroupResponse()
	request.Group, request.MemberID, request.Generation = m.group, m.id, m.generation
	kind, name := "consumer", "range"
	request.ProtocolType, request.Protocol = &kind, &name
	if joined.LeaderID == m.id {
		for _, each := range joined.Members {
			assignment := kmsg.NewSyncGroupRequestGroupAssignment()
			assignment.MemberID = each.MemberID
			assignment.MemberAssignment = []byte{byte(len(joined.Members) >> 8), byte(len(joined.Members))}
			request.GroupAssignment = append(request.GroupAssignment, assignment)
		}
	}
	m.ask(request, 5, response)
	if told := response.MemberAssignment; response.ErrorCode == 0 && len(told) == 2 {
		m.size = int(told[0])<<8 | int(told[1])
	}
	return response.ErrorCode
}

func (m *member) heartbeat() int16 {
	request, response := kmsg.NewPtrHeartbeatRequest(), kmsg.NewPtrHeartbeatResponse()
	request.Group, request.MemberID, request.Generation = m.group, m.id, m.generation
	m.ask(request, 4, response)
	return response.ErrorCode
}

func (m *member) leave() {
	request, response := kmsg.NewPtrLeaveGroupRequest(), kmsg.NewPtrLeaveGroupResponse()
	each := kmsg.NewLeaveGroupRequestMember()
	each.MemberID = m.id
	request.Group, request.Members = m.group, append(request.Members, each)
	m.ask(request, 5, response)
}

// enter joins and syncs until the member has its share of some generation.
func (m *member) enter() {
	for m.sync(m.join()) != 0 {
	}
}

// joinAll measures, for each of several groups, the time until all members are in one generation.
func joinAll(address string, members, rounds int, beat time.Duration) map[string]any {
	var spent []float64
	for round := 0; round < rounds; round++ {
		group := fmt.Sprintf("join-%d-%d-%d", members, time.Now().UnixNano(), round)
		find(address, group).close()
		all := make([]*member, members)
		begun := time.Now()
		var wait sync.WaitGroup
		for number := range all {
			wait.Add(1)
			go func() {
				defer wait.Done()
				m := &member{link: find(address, group), group: group}
				all[number] = m
				for m.enter(); m.size < members; {
					time.Sleep(beat)
					if m.heartbeat() == 0 {
						continue
					}
					m.enter()
				}
			}()
		}
		wait.Wait()
		spent = append(spent, float64(time.Since(begun).Microseconds())/1000)
		for _, m := range all {
			m.leave()
			m.close()
		}
	}
	return map[string]any{"operations": rounds * members, "p50_ms": quantile(spent, 0.5), "max_ms": quantile(spent, 1)}
}

// commitAll measures commits of one member, one after the other.
func commitAll(address, topic string, partitions int, seconds float64) map[string]any {
	m := &member{link: find(address, "commits"), group: "commits"}
	defer m.close()
	m.enter()
	request, response := kmsg.NewPtrOffsetCommitRequest(), kmsg.NewPtrOffsetCommitResponse()
	request.Group, request.MemberID, request.Generation = m.group, m.id, m.generation
	offsets := kmsg.NewOffsetCommitRequestTopic()
	offsets.Topic = topic
	for index := 0; index < partitions; index++ {
		each := kmsg.NewOffsetCommitRequestTopicPartition()
		each.Partition = int32(index)
		offsets.Partitions = append(offsets.Partitions, each)
	}
	request.Topics = append(request.Topics, offsets)
	var spent []float64
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	for offset := int64(0); time.Now().Before(end); offset++ {
		for index := range request.Topics[0].Partitions {
			request.Topics[0].Partitions[index].Offset = offset
		}
		begun := time.Now()
		m.ask(request, 8, response)
		spent = append(spent, float64(time.Since(begun).Nanoseconds())/1e6)
		if code := response.Topics[0].Partitions[0].ErrorCode; code != 0 {
			must(fmt.Errorf("commit: %d", code))
		}
	}
	m.leave()
	return map[string]any{"operations": len(spent), "p50_ms": quantile(spent, 0.5), "p99_ms": quantile(spent, 0.99)}
}
