"""What a run's files, their columns and their words are called, for who writes and who reads them.

See docs/architecture.md for what they hold.
"""

MININET, VIRTUAL, BMV2 = "mininet", "virtual", "bmv2"
WORLDS = (MININET, VIRTUAL, BMV2)

SCENARIO = "scenario.toml"
MANIFEST = "manifest.json"
FLOWS = "flows.csv"
LINKS = "links.csv"
ARRIVALS = "arrivals.csv"
QUEUES = "queues.csv.gz"
PATHS = "paths.csv.gz"
TRANSPORT = "transport.csv.gz"
CAPTURE = "capture.pcapng"
SUMMARY = "summary.csv"

HOST_STAGE = "H-E"
STAGES = (HOST_STAGE, "E-A", "E-C", "A-C", "C-A", "C-E", "A-E", "E-H")
"""Directed links by the tiers of their ends, in the order in which a packet crosses them."""

FLOW_COLUMNS = {
    "flow": "int64",
    "src": "int64",
    "dst": "int64",
    "bytes": "int64",
    "packets": "int64",
    "subflows": "int64",
    "start_ns": "float64",
    "delivered_ns": "float64",
    "finish_ns": "float64",
    "not_before_ns": "float64",
    "after": "str",
    "delay_ns": "float64",
    "phase": "str",
    "lost": "int64",
    "retransmitted": "int64",
    "duplicates": "int64",
    "timeouts": "int64",
    "marks": "int64",
}
LINK_COLUMNS = {
    "node": "str",
    "port": "int64",
    "peer": "str",
    "stage": "str",
    "packets": "int64",
    "bytes": "int64",
    "data_packets": "int64",
    "data_bytes": "int64",
    "ack_packets": "int64",
    "drops": "int64",
    "data_drops": "int64",
    "ack_drops": "int64",
    "trims": "int64",
    "marks": "int64",
    "busy_ns": "float64",
    "max_queue_bytes": "int64",
    "max_queue_packets": "int64",
    "mean_queue_bytes": "float64",
    "mean_queue_packets": "float64",
    "sending_queue_bytes": "float64",
    "sending_queue_packets": "float64",
    "gaps": "int64",
    "gaps_within_10pct": "int64",
    "gaps_within_25pct": "int64",
    "gaps_within_frame": "int64",
    "late_max_ns": "float64",
}
ARRIVAL_COLUMNS = {"time_ns": "float64", "data_bytes": "int64", "ack_bytes": "int64"}
TRANSPORT_COLUMNS = {
    "time_ns": "float64",
    "flow": "int64",
    "window_bytes": "float64",
    "in_flight_bytes": "int64",
    "rate_gbps": "float64",
    "rtt_ns": "float64",
    "queueing_ns": "float64",
    "marked": "int64",
}
PATH_COLUMNS = {
    "flow": "int64",
    "node": "str",
    "port": "int64",
    "packets": "int64",
}
QUEUE_COLUMNS = {
    "time_ns": "float64",
    "node": "str",
    "port": "int64",
    "stage": "str",
    "queue_bytes": "int64",
    "queue_packets": "int64",
}
