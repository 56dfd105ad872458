// Routing: down by address, or up with the uplinks that lead to the destination.
//
// Routes are BGP's result: the control plane writes them from the links that are up. A switch owns
// the addresses below it. `down` maps them to ports, `up` maps all others to a destination number
// and the uplinks that lead there beyond this switch; a miss in either drops the frame. The entries
// of `down` and `up` are the same in many switches of a tier, what differs is in `place`.
//
// What came from above goes down or is dropped, so that no frame circles while routes change.
//
// Switches forward between hosts of one subnet and leave time to live and Ethernet addresses alone.

control Routing(inout Headers headers, inout Metadata meta, inout standard_metadata_t standard) {
    bit<1> is_below = 0;
    bit<16> child = 0;
    bit<16> group = 0;
    bit<W> up_here = 0;

    action locate(bit<32> network, bit<32> netmask, bit<8> child_shift, bit<8> group_shift,
                  bit<16> destinations, bit<W> uplinks) {
        is_below = (headers.ipv4.destination & netmask) == network ? 1w1 : 1w0;
        child = (bit<16>)((headers.ipv4.destination & ~netmask) >> child_shift);
        group = (bit<16>)(headers.ipv4.destination >> group_shift);
        meta.destinations = destinations;
        up_here = uplinks;
    }

    table place {
        actions = { locate; }
        default_action = locate(0xffffffff, 0xffffffff, 0, 0, 0, 0);
    }

    action drop() {
        mark_to_drop(standard);
    }

    action descend(bit<9> port) {
        standard.egress_spec = port;
    }

    table down {
        key = { child: exact; }
        actions = { descend; drop; }
        default_action = drop();
        size = 512;
    }

    action ascend(bit<16> destination, bit<W> leading) {
        meta.destination = destination;
        meta.valid = leading & up_here;
    }

    table up {
        key = { group: exact; }
        actions = { ascend; NoAction; }
        default_action = NoAction();
        size = DESTINATIONS;
    }

    apply {
        if (!headers.ipv4.isValid()) {
            drop();
        } else {
            place.apply();
            if (is_below == 1) {
                down.apply();
            } else {
                if (standard.ingress_port <= DOWN) {
                    up.apply();
                }
                if (meta.valid == 0) {
                    drop();
                }
            }
        }
    }
}
