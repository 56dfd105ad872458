// One of each object that commands name.
#include <core.p4>
#include <v1model.p4>
header h_t { bit<32> ip; bit<128> six; bit<16> w; bit<8> q; bit<8> r; }
struct hs { h_t h; }
struct ms { bit<2> color; bit<8> z; }
parser P(packet_in b, out hs h, inout ms m, inout standard_metadata_t s) { value_set<bit<16>>(2)
    kinds; state start { b.extract(h.h); transition select(h.h.w) { kinds: accept;
    default: accept; } } }
control V(inout hs h, inout ms m) { apply {} }
control I(inout hs h, inout ms m, inout standard_metadata_t s) {
  register<bit<8>>(4) cells; register<bit<72>>(2) wide;
      counter(4, CounterType.packets_and_bytes) hits; meter(4, MeterType.packets) speed;
  direct_counter(CounterType.packets) seen; direct_meter<bit<2>>(MeterType.bytes) pace;
  action port(bit<9> p) { s.egress_spec = p; }
  action pair(bit<9> p, bit<8> q) { s.egress_spec = p; h.h.q = q; }
  action none() {}
  @defaultonly action only() {}
  action fixed() { h.h.r = 7; }
  table ex { key = { h.h.ip: exact; } actions = { port; pair; none; } default_action = none();
      counters = seen; size = 3; }
  table lp { key = { h.h.ip: lpm; } actions = { port; none; } default_action = none(); }
  table l6 { key = { h.h.six: lpm; } actions = { port; none; } default_action = none(); }
  table te { key = { h.h.w: ternary; h.h.q: exact; } actions = { port; none; }
      default_action = none(); }
  table ra { key = { h.h.q: range; } actions = { port; none; } default_action = none(); }
  table op { key = { h.h.q: optional; h.h.r: optional; } actions = { port; none;
      @defaultonly only; } default_action = only(); }
  table co { key = { h.h.q: exact; } actions = { fixed; none; } const entries = { 1: fixed(); }
      const default_action = none(); }
  action mk() { pace.read(m.color); }
  table dm { key = { h.h.q: exact; } actions = { mk; none; } default_action = none();
      meters = pace; }
  action_profile(4) prof; action_selector(HashAlgorithm.crc16, 8, 16) sel;
  table ap { key = { h.h.q: exact; } actions = { port; none; } implementation = prof; }
  table as { key = { h.h.q: exact; h.h.ip: selector; } actions = { port; none; }
      implementation = sel; }
  register<bit<32>>(2) hashes;
  apply { s.egress_spec = 2; ex.apply(); lp.apply(); l6.apply(); te.apply(); ra.apply();
      op.apply(); co.apply(); ap.apply(); as.apply();
    bit<8> v; cells.read(v, 0); hits.count(1); speed.execute_meter(2, m.color);
        wide.write(0, 72w5 << 64);
    bit<16> short; bit<32> long; bit<72> text = h.h.six[71:0];
    hash(short, HashAlgorithm.crc16_custom, 16w0, { text }, 32w65536);
        hashes.write(0, (bit<32>)short);
    hash(long, HashAlgorithm.crc32_custom, 32w0, { text }, 64w4294967296); hashes.write(1, long); }
}
control E(inout hs h, inout ms m, inout standard_metadata_t s) { apply {} }
control U(inout hs h, inout ms m) { apply {} }
control D(packet_out b, in hs h) { apply { b.emit(h.h); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
