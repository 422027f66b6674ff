"""Arrow columns into records as a WebAssembly program: no object for a record, no way out.

`assign` gives each row the slot of its partition: the one that its partition column names, else
the one of its key's murmur2, else the sticky one of its topic. `group` puts the rows of each
slot together, in their order. `encode` writes as many rows of a slot as fit into a batch.

A column of octets is four words: where its ends are (0: there is no such column, all is null), its
data, its validity (0: nothing is null) and the first bit of it. `frame` holds those of key, value,
headers (whose data do not count), header keys and header values, one after another; then a word in
which `encode` leaves where it stopped. A line of the table of topics is: first slot, number of
partitions, sticky partition, bytes that it has taken.
"""

from __future__ import annotations

from odradek.kafka.client.partitioner import MULTIPLIER, POSITIVE_MASK, SEED

COLUMN_BYTES = 16
FRAME_COLUMNS = ("key", "value", "headers", "header_key", "header_value")
FRAME_BYTES = COLUMN_BYTES * len(FRAME_COLUMNS) + 4
STOPPED_AT = COLUMN_BYTES * len(FRAME_COLUMNS)
TOPIC_LINE_BYTES = 16
STICKY_OVERHEAD_BYTES = 16  # What a record without a key counts beside its value.
ALL_ASSIGNED = -1
_LARGE_COPY = 256

_NUMBERS = """
  (func $size_of (param $number i32) (result i32)
    (i32.div_u (i32.sub (i32.const 38) (i32.clz (i32.or (local.get $number) (i32.const 1))))
      (i32.const 7)))

  (func $put (param $p i32) (param $number i32) (result i32)
    (loop $more
      (if (i32.ge_u (local.get $number) (i32.const 128))
        (then
          (i32.store8 (local.get $p) (i32.or (local.get $number) (i32.const 128)))
          (local.set $p (i32.add (local.get $p) (i32.const 1)))
          (local.set $number (i32.shr_u (local.get $number) (i32.const 7)))
          (br $more))))
    (i32.store8 (local.get $p) (local.get $number))
    (i32.add (local.get $p) (i32.const 1)))
"""

_COLUMNS = f"""
  (func $is_null (param $bits i32) (param $bit i32) (result i32)
    (if (result i32) (local.get $bits)
      (then (i32.eqz (i32.and (i32.const 1)
        (i32.shr_u (i32.load8_u (i32.add (local.get $bits)
            (i32.shr_u (local.get $bit) (i32.const 3))))
          (i32.and (local.get $bit) (i32.const 7))))))
      (else (i32.const 0))))

  (func $end_of (param $column i32) (param $row i32) (result i32)
    (i32.load (i32.add (i32.load (local.get $column))
      (i32.shl (local.get $row) (i32.const 2)))))

  (func $length (param $column i32) (param $row i32) (result i32)
    (if (i32.eqz (i32.load (local.get $column))) (then (return (i32.const -1))))
    (if (call $is_null (i32.load offset=8 (local.get $column))
          (i32.add (i32.load offset=12 (local.get $column)) (local.get $row)))
      (then (return (i32.const -1))))
    (i32.sub (call $end_of (local.get $column) (i32.add (local.get $row) (i32.const 1)))
      (call $end_of (local.get $column) (local.get $row))))

  (func $octets_size (param $length i32) (result i32)
    (if (i32.lt_s (local.get $length) (i32.const 0)) (then (return (i32.const 1))))
    (i32.add (call $size_of (i32.shl (local.get $length) (i32.const 1))) (local.get $length)))

  (func $put_octets (param $p i32) (param $column i32) (param $row i32) (param $length i32)
      (result i32)
    (local $from i32) (local $i i32)
    (if (i32.lt_s (local.get $length) (i32.const 0))
      (then (return (call $put (local.get $p) (i32.const 1)))))
    (local.set $p (call $put (local.get $p) (i32.shl (local.get $length) (i32.const 1))))
    (local.set $from (i32.add (i32.load offset=4 (local.get $column))
      (call $end_of (local.get $column) (local.get $row))))
    (if (i32.gt_u (local.get $length) (i32.const {_LARGE_COPY}))
      (then (memory.copy (local.get $p) (local.get $from) (local.get $length)))
      (else
        (block $copied (loop $more
          (br_if $copied (i32.ge_u (local.get $i) (local.get $length)))
          (v128.store (i32.add (local.get $p) (local.get $i))
            (v128.load (i32.add (local.get $from) (local.get $i))))
          (local.set $i (i32.add (local.get $i) (i32.const 16)))
          (br $more)))))
    (i32.add (local.get $p) (local.get $length)))
"""

_MURMUR = f"""
  (func $murmur2 (param $p i32) (param $length i32) (result i32)
    (local $number i32) (local $word i32) (local $end i32) (local $rest i32)
    (local.set $number (i32.xor (i32.const {SEED}) (local.get $length)))
    (local.set $rest (i32.and (local.get $length) (i32.const 3)))
    (local.set $end (i32.add (local.get $p) (i32.sub (local.get $length) (local.get $rest))))
    (block $done (loop $words
      (br_if $done (i32.eq (local.get $p) (local.get $end)))
      (local.set $word (i32.mul (i32.load (local.get $p)) (i32.const {MULTIPLIER})))
      (local.set $word (i32.mul (i32.xor (local.get $word)
        (i32.shr_u (local.get $word) (i32.const 24))) (i32.const {MULTIPLIER})))
      (local.set $number (i32.xor (local.get $word)
        (i32.mul (local.get $number) (i32.const {MULTIPLIER}))))
      (local.set $p (i32.add (local.get $p) (i32.const 4)))
      (br $words)))
    (if (local.get $rest)
      (then (local.set $number (i32.mul (i32.const {MULTIPLIER})
        (i32.xor (local.get $number) (i32.and (i32.load (local.get $p))
          (i32.sub (i32.shl (i32.const 1) (i32.shl (local.get $rest) (i32.const 3)))
            (i32.const 1))))))))
    (local.set $number (i32.mul (i32.const {MULTIPLIER}) (i32.xor (local.get $number)
      (i32.shr_u (local.get $number) (i32.const 13)))))
    (i32.xor (local.get $number) (i32.shr_u (local.get $number) (i32.const 15))))
"""

_ASSIGN = f"""
  (func $stick (param $line i32) (param $length i32) (param $limit i32) (result i32)
    (local $chosen i32) (local $taken i32)
    (local.set $chosen (i32.load offset=8 (local.get $line)))
    (local.set $taken (i32.add (i32.load offset=12 (local.get $line))
      (i32.add (i32.const {STICKY_OVERHEAD_BYTES})
        (select (local.get $length) (i32.const 0)
          (i32.gt_s (local.get $length) (i32.const 0))))))
    (if (i32.ge_u (local.get $taken) (local.get $limit))
      (then
        (i32.store offset=8 (local.get $line) (i32.rem_u
          (i32.add (local.get $chosen) (i32.const 1)) (i32.load offset=4 (local.get $line))))
        (local.set $taken (i32.const 0))))
    (i32.store offset=12 (local.get $line) (local.get $taken))
    (local.get $chosen))

  (func $choose (param $row i32) (param $frame i32) (param $line i32) (param $limit i32)
      (result i32)
    (local $length i32)
    (local.set $length (call $length (local.get $frame) (local.get $row)))
    (if (i32.lt_s (local.get $length) (i32.const 0))
      (then (return (call $stick (local.get $line)
        (call $length (i32.add (local.get $frame) (i32.const {COLUMN_BYTES})) (local.get $row))
        (local.get $limit)))))
    (i32.rem_u
      (i32.and (i32.const {POSITIVE_MASK}) (call $murmur2
        (i32.add (i32.load offset=4 (local.get $frame))
          (call $end_of (local.get $frame) (local.get $row)))
        (local.get $length)))
      (i32.load offset=4 (local.get $line))))

  (func (export "assign") (param $rows i32) (param $frame i32) (param $topics i32)
      (param $table i32) (param $partitions i32) (param $bits i32) (param $bit i32)
      (param $limit i32) (param $slots i32) (result i32)
    (local $row i32) (local $at i32) (local $line i32) (local $chosen i32)
    (block $done (loop $each
      (br_if $done (i32.eq (local.get $row) (local.get $rows)))
      (local.set $at (i32.shl (local.get $row) (i32.const 2)))
      (local.set $line (local.get $table))
      (if (local.get $topics)
        (then (local.set $line (i32.add (local.get $table) (i32.mul
          (i32.const {TOPIC_LINE_BYTES})
          (i32.load (i32.add (local.get $topics) (local.get $at))))))))
      (if (i32.or (i32.eqz (local.get $partitions))
            (call $is_null (local.get $bits) (i32.add (local.get $bit) (local.get $row))))
        (then (local.set $chosen (call $choose (local.get $row) (local.get $frame)
          (local.get $line) (local.get $limit))))
        (else
          (local.set $chosen (i32.load (i32.add (local.get $partitions) (local.get $at))))
          (if (i32.ge_u (local.get $chosen) (i32.load offset=4 (local.get $line)))
            (then (return (local.get $row))))))
      (i32.store (i32.add (local.get $slots) (local.get $at))
        (i32.add (i32.load (local.get $line)) (local.get $chosen)))
      (local.set $row (i32.add (local.get $row) (i32.const 1)))
      (br $each)))
    (i32.const {ALL_ASSIGNED}))
"""

# The words of `ends` are 0 at first; after it they say where the rows of each slot end.
_GROUP = """
  (func $slot_of (param $slots i32) (param $row i32) (param $ends i32) (result i32)
    (i32.add (local.get $ends) (i32.shl (i32.load (i32.add (local.get $slots)
      (i32.shl (local.get $row) (i32.const 2)))) (i32.const 2))))

  (func (export "group") (param $rows i32) (param $slots i32) (param $count i32)
      (param $ends i32) (param $order i32) (result i32)
    (local $row i32) (local $at i32) (local $sum i32) (local $n i32)
    (block $counted (loop $each
      (br_if $counted (i32.eq (local.get $row) (local.get $rows)))
      (local.set $at (call $slot_of (local.get $slots) (local.get $row) (local.get $ends)))
      (i32.store (local.get $at) (i32.add (i32.load (local.get $at)) (i32.const 1)))
      (local.set $row (i32.add (local.get $row) (i32.const 1)))
      (br $each)))
    (local.set $at (local.get $ends))
    (block $summed (loop $each
      (br_if $summed (i32.eqz (local.get $count)))
      (local.set $n (i32.load (local.get $at)))
      (i32.store (local.get $at) (local.get $sum))
      (local.set $sum (i32.add (local.get $sum) (local.get $n)))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (local.set $count (i32.sub (local.get $count) (i32.const 1)))
      (br $each)))
    (local.set $row (i32.const 0))
    (block $placed (loop $each
      (br_if $placed (i32.eq (local.get $row) (local.get $rows)))
      (local.set $at (call $slot_of (local.get $slots) (local.get $row) (local.get $ends)))
      (local.set $n (i32.load (local.get $at)))
      (i32.store (i32.add (local.get $order) (i32.shl (local.get $n) (i32.const 2)))
        (local.get $row))
      (i32.store (local.get $at) (i32.add (local.get $n) (i32.const 1)))
      (local.set $row (i32.add (local.get $row) (i32.const 1)))
      (br $each)))
    (local.get $sum))
"""


def _column(name: str) -> str:
    offset = COLUMN_BYTES * FRAME_COLUMNS.index(name)
    return f"(i32.add (local.get $frame) (i32.const {offset}))"


def _header_loop(step: str) -> str:
    """A step for each header of $row, with its number in $i."""
    return f"""
      (local.set $i (call $end_of {_column("headers")} (local.get $row)))
      (local.set $end (i32.add (local.get $i) (local.get $count)))
      (block $done (loop $each
        (br_if $done (i32.eq (local.get $i) (local.get $end)))
        {step}
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $each)))"""


def _length_of(name: str, row: str = "$i") -> str:
    return f"(call $length {_column(name)} (local.get {row}))"


def _put_header(name: str) -> str:
    return f"""(local.set $p (call $put_octets (local.get $p) {_column(name)} (local.get $i)
          {_length_of(name)}))"""


def _headers() -> str:
    sizes = f"""(local.set $p (i32.add (local.get $p) (i32.add
          (call $octets_size {_length_of("header_key")})
          (call $octets_size {_length_of("header_value")}))))"""
    return f"""
  (func $headers_size (param $frame i32) (param $row i32) (param $count i32) (result i32)
    (local $i i32) (local $end i32) (local $p i32)
    (if (i32.le_s (local.get $count) (i32.const 0)) (then (return (i32.const 1))))
    {_header_loop(sizes)}
    (i32.add (local.get $p) (call $size_of (i32.shl (local.get $count) (i32.const 1)))))

  (func $put_headers (param $p i32) (param $frame i32) (param $row i32) (param $count i32)
      (result i32)
    (local $i i32) (local $end i32)
    (if (i32.le_s (local.get $count) (i32.const 0))
      (then (return (call $put (local.get $p) (i32.const 0)))))
    (local.set $p (call $put (local.get $p) (i32.shl (local.get $count) (i32.const 1))))
    {_header_loop(_put_header("header_key") + _put_header("header_value"))}
    (local.get $p))
"""


def _encode() -> str:
    """Attributes and timestamp delta are 0: all records of a batch are made at one time."""
    return f"""
  (func (export "encode") (param $order i32) (param $from i32) (param $to i32)
      (param $limit i32) (param $p i32) (param $frame i32) (result i32)
    (local $at i32) (local $row i32) (local $key i32) (local $value i32) (local $headers i32)
    (local $delta i32) (local $body i32) (local $size i32) (local $used i32)
    (local.set $at (local.get $from))
    (block $full (loop $each
      (br_if $full (i32.eq (local.get $at) (local.get $to)))
      (local.set $row (i32.load (i32.add (local.get $order)
        (i32.shl (local.get $at) (i32.const 2)))))
      (local.set $key {_length_of("key", "$row")})
      (local.set $value {_length_of("value", "$row")})
      (local.set $headers {_length_of("headers", "$row")})
      (local.set $delta (i32.shl (i32.sub (local.get $at) (local.get $from)) (i32.const 1)))
      (local.set $body (i32.add (i32.const 2) (i32.add
        (i32.add (call $size_of (local.get $delta)) (call $octets_size (local.get $key)))
        (i32.add (call $octets_size (local.get $value))
          (call $headers_size (local.get $frame) (local.get $row) (local.get $headers))))))
      (local.set $size (i32.add (local.get $body)
        (call $size_of (i32.shl (local.get $body) (i32.const 1)))))
      (local.set $used (i32.add (local.get $used) (local.get $size)))
      (br_if $full (i32.and (i32.gt_u (local.get $at) (local.get $from))
        (i32.gt_u (local.get $used) (local.get $limit))))
      (local.set $p (call $put (local.get $p) (i32.shl (local.get $body) (i32.const 1))))
      (i32.store16 (local.get $p) (i32.const 0))
      (local.set $p (call $put (i32.add (local.get $p) (i32.const 2)) (local.get $delta)))
      (local.set $p (call $put_octets (local.get $p) {_column("key")} (local.get $row)
        (local.get $key)))
      (local.set $p (call $put_octets (local.get $p) {_column("value")} (local.get $row)
        (local.get $value)))
      (local.set $p (call $put_headers (local.get $p) (local.get $frame) (local.get $row)
        (local.get $headers)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $each)))
    (i32.store offset={STOPPED_AT} (local.get $frame) (local.get $p))
    (i32.sub (local.get $at) (local.get $from)))
"""


def program() -> str:
    """The whole program as text."""
    return f"""
(module
  (memory (export "memory") 1)
  {_NUMBERS}
  {_COLUMNS}
  {_MURMUR}
  {_ASSIGN}
  {_GROUP}
  {_headers()}
  {_encode()})
"""
