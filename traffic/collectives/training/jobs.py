"""Jobs that share a network, and the servers that each of them has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from errors import UserError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from traffic.request import Request

GPUS_PER_SERVER = 8
PLACEMENTS = ("packed", "random", "round-robin")
OPTIONS = {
    "jobs": "1 on the network",
    "placement": "packed, random or round-robin, of each job's servers",
    "server": f"{GPUS_PER_SERVER} GPUs",
}


def places(request: Request) -> NDArray[np.int64]:
    """Return the host of each GPU, shape (jobs, servers of a job, GPUs of a server).

    GPUs of a server are attached side by side. A job has servers next to each other (`packed`),
    every so manieth one (`round-robin`), or any (`random`). Raises UserError for hosts that do not
    make as many servers for each job.
    """
    server = request.whole("server", GPUS_PER_SERVER, at_least=1)
    jobs = request.whole("jobs", 1, at_least=1)
    servers, rest = divmod(request.hosts, server)
    if rest or servers % jobs:
        raise UserError(
            f"{request.hosts} hosts do not make {jobs} jobs of equally many servers of {server}; "
            "options jobs and server say how many"
        )
    attached = np.arange(request.hosts).reshape(servers, server)
    match request.choice("placement", PLACEMENTS):
        case "packed":
            order = np.arange(servers)
        case "random":
            order = request.rng.permutation(servers)
        case _:
            order = np.arange(servers).reshape(-1, jobs).T.ravel()
    return attached[order].reshape(jobs, servers // jobs, server)
