// EACH_DOWNLINK(STEP) expands to STEP(0) ... STEP(DOWN - 1), as EACH_UPLINK does for uplinks: for
// programs that measure the ports that face down, too. Port 1 + i is downlink i.

#define EACH_256(STEP, i) EACH_128(STEP, i) EACH_128(STEP, i + 128)

#if DOWN & 1
#define DOWN_TO_1(STEP) EACH_1(STEP, 0)
#else
#define DOWN_TO_1(STEP)
#endif
#if DOWN & 2
#define DOWN_TO_2(STEP) DOWN_TO_1(STEP) EACH_2(STEP, (DOWN & 1))
#else
#define DOWN_TO_2(STEP) DOWN_TO_1(STEP)
#endif
#if DOWN & 4
#define DOWN_TO_4(STEP) DOWN_TO_2(STEP) EACH_4(STEP, (DOWN & 3))
#else
#define DOWN_TO_4(STEP) DOWN_TO_2(STEP)
#endif
#if DOWN & 8
#define DOWN_TO_8(STEP) DOWN_TO_4(STEP) EACH_8(STEP, (DOWN & 7))
#else
#define DOWN_TO_8(STEP) DOWN_TO_4(STEP)
#endif
#if DOWN & 16
#define DOWN_TO_16(STEP) DOWN_TO_8(STEP) EACH_16(STEP, (DOWN & 15))
#else
#define DOWN_TO_16(STEP) DOWN_TO_8(STEP)
#endif
#if DOWN & 32
#define DOWN_TO_32(STEP) DOWN_TO_16(STEP) EACH_32(STEP, (DOWN & 31))
#else
#define DOWN_TO_32(STEP) DOWN_TO_16(STEP)
#endif
#if DOWN & 64
#define DOWN_TO_64(STEP) DOWN_TO_32(STEP) EACH_64(STEP, (DOWN & 63))
#else
#define DOWN_TO_64(STEP) DOWN_TO_32(STEP)
#endif
#if DOWN & 128
#define DOWN_TO_128(STEP) DOWN_TO_64(STEP) EACH_128(STEP, (DOWN & 127))
#else
#define DOWN_TO_128(STEP) DOWN_TO_64(STEP)
#endif
#if DOWN & 256
#define EACH_DOWNLINK(STEP) DOWN_TO_128(STEP) EACH_256(STEP, (DOWN & 255))
#else
#define EACH_DOWNLINK(STEP) DOWN_TO_128(STEP)
#endif
