package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// link is one connection, with one request on its way at a time.
type link struct {
	conn      net.Conn
	reader    *bufio.Reader
	formatter *kmsg.RequestFormatter
	count     int32
	out, in   []byte
}

func dial(address string) *link {
	conn, err := net.Dial("tcp", address)
	must(err)
	return &link{conn: conn, reader: bufio.NewReaderSize(conn, 1<<16), formatter: kmsg.NewRequestFormatter(kmsg.FormatterClientID("load"))}
}

func (l *link) close() { l.conn.Close() }

// ask sends a request and reads its answer into a response.
func (l *link) ask(request kmsg.Request, version int16, response kmsg.Response) {
	request.SetVersion(version)
	response.SetVersion(version)
	l.count++
	l.out = l.formatter.AppendRequest(l.out[:0], request, l.count)
	_, err := l.conn.Write(l.out)
	must(err)
	var size [4]byte
	_, err = io.ReadFull(l.reader, size[:])
	must(err)
	length := int(binary.BigEndian.Uint32(size[:]))
	if cap(l.in) < length {
		l.in = make([]byte, length)
	}
	body := l.in[:length]
	_, err = io.ReadFull(l.reader, body)
	must(err)
	if number := int32(binary.BigEndian.Uint32(body)); number != l.count {
		must(fmt.Errorf("an answer to %d came to %d", number, l.count))
	}
	body = body[4:]
	if response.IsFlexible() {
		body = body[1:] // No tags.
	}
	must(response.ReadFrom(body))
}
