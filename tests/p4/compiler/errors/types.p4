#include <v1model.p4>

typedef bit<48> mac_t;
header ethernet_t {
    mac_t source;
    bit<16> kind;
}

control C(inout ethernet_t e, in bit<8> tag, inout standard_metadata_t sm) {
    bit<16> wide;
    int<16> signed_wide;
    bool flag;
    apply {
        wide = tag;
        wide = tag + wide;
        flag = wide;
        signed_wide = (int<16>)tag;
        tag = 5;
        wide[3:5] = 1;
        e.destination = e.source;
        sm.egress_spce = 3;
        if (wide) { }
        wide = 16w1 ++ 3;
        e.kind = 0x12345;
    }
}
