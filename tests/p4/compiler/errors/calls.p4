#include <v1model.p4>

bit<8> twice(in bit<8> x) { return x + x; }
bit<8> sometimes(in bit<8> x) { if (x > 3) { return x; } }
void nothing() { }

control Inner(inout bit<8> x) { apply { x = 1; } }

control C(inout bit<8> x, in bit<8> y, inout standard_metadata_t sm) {
    register<bit<8>>(16) cells;
    Inner() inner;
    action one(bit<8> data) { }
    table t { key = { x: exact; } actions = { one; } }
    action two() { t.apply(); inner.apply(x); }
    apply {
        x = twice();
        x = twice(1, 2);
        x = twice(z = 1);
        x = nothing();
        inner.apply(y);
        inner.apply(x + 1);
        cells.read(x);
        cells.raed(x, 0);
        cells.read(sm.mcast_grp, 0);
        one(1w0);
        verify(true, error.NoError);
        random(x, 0, 256);
        x();
        return x;
    }
}
