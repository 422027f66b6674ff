"""The walk over records as a WebAssembly program: one pass, one copy, no way out of its memory.

`decode(given)` finds its arguments in memory, for each that is handed over costs as much as many
records: table, count, low, high, want, out. It walks `count` batches, each a line of the table:
where its plain records start and end, its base offset, base timestamp, append time (or the least
int64 for none) and record count. What lies in [low, high) becomes a row of the columns that `out`
points to. It returns the number of rows, or -1 and the number of the batch that makes no sense.

The rules are those of `kafka.wire.records`, and a test holds the two against each other: a number
of more than 5 (10) bytes, a negative length other than the null's, a record or a batch that is not
exactly as long as it says are refused. Every length is compared with the end of its batch before
it is used. The sandbox is the second line: an error of ours in here would end as a trap.

The text is put together by functions because numbers of one byte, nearly all of them, must be read
in place: a call for each would take half of the time.
"""

from __future__ import annotations

# Positions in `out`: where columns are, then what became of them.
OUT_POINTERS = (
    "offset",
    "timestamp",
    "key_ends",
    "key_validity",
    "key_data",
    "value_ends",
    "value_validity",
    "value_data",
    "headers_ends",
    "headers_validity",
    "header_key_ends",
    "header_key_data",
    "header_value_ends",
    "header_value_validity",
    "header_value_data",
)
OUT_COUNTS = ("key_size", "value_size", "headers_size", "header_key_size", "header_value_size")
OUT_NULLS = ("key_nulls", "value_nulls", "headers_nulls", "header_value_nulls")
OUT_FIELDS = (*OUT_POINTERS, *OUT_COUNTS, *OUT_NULLS, "failed_batch")
OUT_BYTES = 4 * len(OUT_FIELDS)
TABLE_LINE = "<iiqqqii"  # start, end, base offset, base timestamp, append time, count, padding
TABLE_LINE_BYTES = 40
GIVEN = "<iiqqii"  # table, count, low, high, want, out
GIVEN_BYTES = 32
NO_APPEND_TIME = -(2**63)
WANT_KEY, WANT_VALUE, WANT_HEADERS = 1, 2, 4
TIMESTAMP_MS_MAX = (2**63 - 1) // 1000  # Spark counts microseconds.
COPY_SLACK = 16  # A copy may write this many bytes too many; what follows overwrites them.
_LARGE_COPY = 256


def _varint(into: str) -> str:
    """Read an unsigned varint at $p into a local, in place if it has one byte."""
    return f"""
      (br_if $refuse (i32.ge_u (local.get $p) (local.get $end)))
      (local.set {into} (i32.load8_u (local.get $p)))
      (if (i32.lt_u (local.get {into}) (i32.const 128))
        (then (local.set $p (i32.add (local.get $p) (i32.const 1))))
        (else
          (local.set {into} (call $varint (local.get $p) (local.get $end)))
          (local.set $p (global.get $after))
          (br_if $refuse (i32.eqz (local.get $p)))))"""


def _length(into: str, on_null: str) -> str:
    """Read a length into a local; where it is the null's, do something else with it."""
    return f"""
      {_varint(into)}
      (if (i32.and (local.get {into}) (i32.const 1))
        (then
          (br_if $refuse (i32.ne (local.get {into}) (i32.const 1)))
          {on_null}
          (local.set {into} (i32.const 0)))
        (else (local.set {into} (i32.shr_u (local.get {into}) (i32.const 1)))))
      (br_if $refuse (i32.gt_u (local.get {into}) (i32.sub (local.get $end) (local.get $p))))"""


def _copy(to: str, size: str) -> str:
    """Copy from $p to a pointer that moves on; sixteen bytes at a time if they are few."""
    return f"""
      (if (i32.gt_u (local.get {size}) (i32.const {_LARGE_COPY}))
        (then (memory.copy (local.get {to}) (local.get $p) (local.get {size})))
        (else
          (local.set $i (i32.const 0))
          (block $copied (loop $more
            (br_if $copied (i32.ge_u (local.get $i) (local.get {size})))
            (v128.store (i32.add (local.get {to}) (local.get $i))
              (v128.load (i32.add (local.get $p) (local.get $i))))
            (local.set $i (i32.add (local.get $i) (i32.const 16)))
            (br $more)))))
      (local.set {to} (i32.add (local.get {to}) (local.get {size})))"""


def _set_bit(bits: str, number: str) -> str:
    at = f"(i32.add (local.get {bits}) (i32.shr_u (local.get {number}) (i32.const 3)))"
    bit = f"(i32.shl (i32.const 1) (i32.and (local.get {number}) (i32.const 7)))"
    return f"(i32.store8 {at} (i32.or (i32.load8_u {at}) {bit}))"


def _set_word(words: str, number: str, value: str) -> str:
    at = f"(i32.add (local.get {words}) (i32.shl (local.get {number}) (i32.const 2)))"
    return f"(i32.store {at} {value})"


def _one_more(local: str) -> str:
    return f"(local.set {local} (i32.add (local.get {local}) (i32.const 1)))"


def _octets(column: str, want: int) -> str:
    """Read a key or a value, and put it into its column if the row counts and it is wanted."""
    return f"""
      (local.set $is_null (i32.const 0))
      {_length("$n", "(local.set $is_null (i32.const 1))")}
      (if (i32.and (local.get $wanted) (i32.const {want}))
        (then
          (if (local.get $is_null)
            (then {_one_more(f"${column}_nulls")})
            (else {_set_bit(f"${column}_validity", "$row")}
              {_copy(f"${column}_to", "$n")}))
          {_set_word(f"${column}_ends", "$next_row", _used(f"{column}"))}))
      (local.set $p (i32.add (local.get $p) (local.get $n)))"""


def _used(column: str) -> str:
    return f"(i32.sub (local.get ${column}_to) (local.get ${column}_data))"


def _header() -> str:
    """Read one header, and put it into the columns if the row counts and headers are wanted."""
    return f"""
      {_length("$n", "(br $refuse)")}
      (if (local.get $keeps)
        (then {_copy("$header_key_to", "$n")}
          {_set_word("$header_key_ends", "$next_header", _used("header_key"))}))
      (local.set $p (i32.add (local.get $p) (local.get $n)))
      (local.set $is_null (i32.const 0))
      {_length("$n", "(local.set $is_null (i32.const 1))")}
      (if (local.get $keeps)
        (then
          (if (local.get $is_null)
            (then {_one_more("$header_value_nulls")})
            (else {_set_bit("$header_value_validity", "$headers")}
              {_copy("$header_value_to", "$n")}))
          {_set_word("$header_value_ends", "$next_header", _used("header_value"))}
          (local.set $headers (local.get $next_header))
          {_one_more("$next_header")}))
      (local.set $p (i32.add (local.get $p) (local.get $n)))"""


def _headers() -> str:
    return f"""
      {_varint("$m")}
      (if (local.get $m)
        (then
          (br_if $refuse (i32.and (local.get $m) (i32.const 1)))
          (local.set $m (i32.shr_u (local.get $m) (i32.const 1)))
          (br_if $refuse (i32.gt_u (local.get $m)
            (i32.shr_u (i32.sub (local.get $end) (local.get $p)) (i32.const 1))))
          (local.set $keeps (i32.and (local.get $wanted) (i32.const {WANT_HEADERS})))
          (if (i32.and (i32.ne (local.get $keeps) (i32.const 0))
              (i32.ne (local.get $m) (i32.const 0)))
            (then {_set_bit("$headers_validity", "$row")}
              (local.set $headers_nulls (i32.sub (local.get $headers_nulls) (i32.const 1)))))
          (block $read (loop $each
            (br_if $read (i32.eqz (local.get $m)))
            {_header()}
            (local.set $m (i32.sub (local.get $m) (i32.const 1)))
            (br $each)))))
      (if (i32.and (local.get $wanted) (i32.const {WANT_HEADERS}))
        (then {_one_more("$headers_nulls")}
          {_set_word("$headers_ends", "$next_row", "(local.get $headers)")}))"""


def _record() -> str:
    """Read one record: length, attributes, timestamp, offset, key, value, headers."""
    return f"""
      {_varint("$length")}
      (local.set $start (local.get $p))
      (br_if $refuse (i32.ge_u (local.get $p) (local.get $end)))
      {_one_more("$p")}
      (br_if $refuse (i32.ge_u (local.get $p) (local.get $end)))
      (local.set $delta (i64.load8_u (local.get $p)))
      (if (i64.lt_u (local.get $delta) (i64.const 128))
        (then {_one_more("$p")})
        (else
          (local.set $delta (call $varlong (local.get $p) (local.get $end)))
          (local.set $p (global.get $after))
          (br_if $refuse (i32.eqz (local.get $p)))))
      (if (local.get $is_created)
        (then (local.set $time (i64.add (local.get $base_time)
          (i64.xor (i64.shr_u (local.get $delta) (i64.const 1))
            (i64.sub (i64.const 0) (i64.and (local.get $delta) (i64.const 1))))))))
      {_varint("$n")}
      (local.set $offset (i64.add (local.get $base_offset) (i64.extend_i32_s
        (i32.xor (i32.shr_u (local.get $n) (i32.const 1))
          (i32.sub (i32.const 0) (i32.and (local.get $n) (i32.const 1)))))))
      (local.set $is_row (i32.and (i64.ge_s (local.get $offset) (local.get $low))
        (i64.lt_s (local.get $offset) (local.get $high))))
      (local.set $wanted (select (local.get $want) (i32.const 0) (local.get $is_row)))
      (local.set $next_row (i32.add (local.get $row) (i32.const 1)))
      {_octets("key", WANT_KEY)}
      {_octets("value", WANT_VALUE)}
      {_headers()}
      (br_if $refuse (i32.ne (i32.sub (local.get $p) (local.get $start))
        (i32.shr_u (local.get $length) (i32.const 1))))
      (if (local.get $is_row)
        (then
          (br_if $refuse (i64.gt_s (local.get $time) (i64.const {TIMESTAMP_MS_MAX})))
          (br_if $refuse (i64.lt_s (local.get $time) (i64.const -{TIMESTAMP_MS_MAX})))
          (i64.store (i32.add (local.get $offsets)
            (i32.shl (local.get $row) (i32.const 3))) (local.get $offset))
          (i64.store (i32.add (local.get $times) (i32.shl (local.get $row) (i32.const 3)))
            (i64.mul (local.get $time) (i64.const 1000)))
          (local.set $row (local.get $next_row))))"""


def _slow(name: str, kind: str, bytes_max: int) -> str:
    """A function for numbers of several bytes; $after is 0 where there is none."""
    octet = "(local.get $octet)" if kind == "i32" else "(i64.extend_i32_u (local.get $octet))"
    shift = "(local.get $shift)" if kind == "i32" else "(i64.extend_i32_u (local.get $shift))"
    return f"""
  (func ${name} (param $p i32) (param $end i32) (result {kind})
    (local $number {kind}) (local $shift i32) (local $octet i32)
    (global.set $after (i32.const 0))
    (loop $more
      (if (i32.ge_u (local.get $p) (local.get $end)) (then (return ({kind}.const 0))))
      (local.set $octet (i32.load8_u (local.get $p)))
      {_one_more("$p")}
      (local.set $number ({kind}.or (local.get $number)
        ({kind}.shl ({kind}.and {octet} ({kind}.const 127)) {shift})))
      (if (i32.lt_u (local.get $octet) (i32.const 128))
        (then (global.set $after (local.get $p)) (return (local.get $number))))
      (local.set $shift (i32.add (local.get $shift) (i32.const 7)))
      (br_if $more (i32.lt_u (local.get $shift) (i32.const {7 * bytes_max}))))
    ({kind}.const 0))"""


def _out(field: str) -> int:
    return 4 * OUT_FIELDS.index(field)


_POINTER_LOCALS = {"offset": "$offsets", "timestamp": "$times"}
_COUNTERS = ("$key_nulls", "$value_nulls", "$headers_nulls", "$header_value_nulls", "$headers")
_WRITTEN = ("key", "value", "header_key", "header_value")


def _load_out() -> str:
    lines = [
        f"(local.set {_POINTER_LOCALS.get(name, f'${name}')}"
        f" (i32.load offset={_out(name)} (local.get $out)))"
        for name in OUT_POINTERS
    ]
    lines += [f"(local.set ${name}_to (local.get ${name}_data))" for name in _WRITTEN]
    return "\n".join(lines)


def _store_out() -> str:
    lines = [
        f"(i32.store offset={_out(f'{n}_size')} (local.get $out) {_used(n)})" for n in _WRITTEN
    ]
    lines.append(f"(i32.store offset={_out('headers_size')} (local.get $out) (local.get $headers))")
    lines += [
        f"(i32.store offset={_out(name)} (local.get $out) (local.get ${name}))"
        for name in OUT_NULLS
    ]
    return "\n".join(lines)


def _locals() -> str:
    words = [
        "$p", "$end", "$start", "$length", "$n", "$m", "$i", "$row", "$next_row", "$next_header",
        "$is_row", "$wanted", "$is_null", "$is_created", "$keeps", "$batch", "$left", *_COUNTERS,
        *(_POINTER_LOCALS.get(name, f"${name}") for name in OUT_POINTERS),
        *(f"${name}_to" for name in _WRITTEN), "$table", "$count", "$want", "$out",
    ]  # fmt: skip
    longs = ["$delta", "$time", "$offset", "$base_offset", "$base_time", "$low", "$high"]
    return "\n".join(
        [f"(local {name} i32)" for name in words] + [f"(local {n} i64)" for n in longs]
    )


def _take_given() -> str:
    return """
      (local.set $table (i32.load (local.get $given)))
      (local.set $count (i32.load offset=4 (local.get $given)))
      (local.set $low (i64.load offset=8 (local.get $given)))
      (local.set $high (i64.load offset=16 (local.get $given)))
      (local.set $want (i32.load offset=24 (local.get $given)))
      (local.set $out (i32.load offset=28 (local.get $given)))"""


def _open_batch() -> str:
    """Take one line of the table."""
    return f"""
      (local.set $p (i32.load (local.get $table)))
      (local.set $end (i32.load offset=4 (local.get $table)))
      (local.set $base_offset (i64.load offset=8 (local.get $table)))
      (local.set $base_time (i64.load offset=16 (local.get $table)))
      (local.set $time (i64.load offset=24 (local.get $table)))
      (local.set $is_created (i64.eq (local.get $time) (i64.const {NO_APPEND_TIME})))
      (local.set $left (i32.load offset=32 (local.get $table)))"""


def program() -> str:
    """The whole program as text."""
    return f"""
(module
  (memory (export "memory") 1)
  (global $after (mut i32) (i32.const 0))
  {_slow("varint", "i32", 5)}
  {_slow("varlong", "i64", 10)}
  (func (export "decode") (param $given i32) (result i32)
    {_locals()}
    {_take_given()}
    {_load_out()}
    (local.set $next_header (i32.const 1))
    (block $refuse
      (block $done (loop $batches
        (br_if $done (i32.eq (local.get $batch) (local.get $count)))
        {_open_batch()}
        (block $walked (loop $records
          (br_if $walked (i32.eqz (local.get $left)))
          {_record()}
          (local.set $left (i32.sub (local.get $left) (i32.const 1)))
          (br $records)))
        (br_if $refuse (i32.ne (local.get $p) (local.get $end)))
        {_one_more("$batch")}
        (local.set $table (i32.add (local.get $table) (i32.const {TABLE_LINE_BYTES})))
        (br $batches)))
      {_store_out()}
      (return (local.get $row)))
    (i32.store offset={_out("failed_batch")} (local.get $out) (local.get $batch))
    (i32.const -1)))
"""
