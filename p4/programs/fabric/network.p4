// The network that a program is compiled for. The control plane defines these for its network; the
// values below are those of the smallest fat tree, k = 4.

#ifndef W
#define W 2  // uplinks of a switch that has any: k/2, at most 255
#endif

#ifndef DOWN
#define DOWN W  // ports that face down: 1 to DOWN, below those that face up
#endif

#ifndef ABOVE
#define ABOVE (2 * W)  // most ports that face down of a switch behind an uplink
#endif

#ifndef LAYER
#define LAYER W  // uplinks of the network's edge switches
#endif

#ifndef DESTINATIONS
#define DESTINATIONS 8  // most destinations that a switch tells apart: the network's edge switches
#endif

const bit<W> ALL_UPLINKS = ~(bit<W>)0;
