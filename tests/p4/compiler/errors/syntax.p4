#include <core.p4>

header h_t {
    bit<8> first
    bit<8> second;
}

const bit<8> here = 5

control C(inout h_t h) {
    apply {
        h.first = 1
        h.second = 2;
        h.first == 3;
        if h.first { }
        h.second = (4;
    }
}

struct table { bit<8> x; }
bit<8> global;
control Tables(in bit<8> a) {
    table bare { key = { a: exact; } }
    table twice { key = { a: exact; } actions = { NoAction; } size = 1; size = 2; }
    table again { key = { a: exact; } actions = { NoAction; } actions = { NoAction; } }
    apply { }
}
