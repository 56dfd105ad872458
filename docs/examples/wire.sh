#!/bin/sh
# Hosts h1 and h2 and a listener, each in a network namespace of its own, wired to v1, v2 and v3.
set -e
for number in 1 2 3; do
    ip netns add "h$number"
    ip link add "v$number" type veth peer name eth0 address "02:00:00:00:00:0$number" \
        netns "h$number"
    sysctl -qw "net.ipv6.conf.v$number.disable_ipv6=1"
    ip netns exec "h$number" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
    ip link set "v$number" up
    ip -n "h$number" address add "10.0.0.$number/24" dev eth0
    ip -n "h$number" link set eth0 up
done
