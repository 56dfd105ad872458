#include "real.h"
void real_notice(struct dp *dp, struct port *port){(void)dp;(void)port;}
void real_note_pace(struct dp *dp, struct host *host, uint32_t bytes, uint64_t time){(void)dp;(void)host;(void)bytes;(void)time;}
void real_read_port(const struct dp *dp, const struct port *port, struct dp_port_record *record){(void)dp;(void)port;(void)record;}
void real_read_totals(const struct dp *dp, struct dp_totals *totals){(void)dp;(void)totals;}
void real_close(struct dp *dp){(void)dp;}
int dp_socket(struct dp *dp, int fd, uint32_t ifindex){(void)dp;(void)fd;(void)ifindex;return -1;}
int dp_wires(struct dp *dp, uint64_t count, const struct dp_wire *wires){(void)dp;(void)count;(void)wires;return -1;}
int dp_run_real(struct dp *dp, const struct dp_real *real){(void)dp;(void)real;return -1;}
void dp_read_pacing(const struct dp *dp, struct dp_pacing *records){(void)dp;(void)records;}
