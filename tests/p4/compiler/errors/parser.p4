#include <core.p4>

header h_t { bit<8> f; varbit<32> v; }
struct headers { h_t h; h_t[2] stack; bit<8> plain; }

parser P(packet_in packet, out headers hdr) {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.plain);
        transition select(hdr.h.f, hdr.h.f) {
            (1, 2): next;
            (1, 2, 3): accept;
            default: accept;
            4: accept;
        }
    }
    state next {
        transition elsewhere;
    }
    state lonely {
        transition accept;
    }
    state next {
        transition reject;
    }
}

parser NoStart(packet_in packet) {
    state first { transition accept; }
}

parser Endless(packet_in packet) {
    state start { transition start; }
}
