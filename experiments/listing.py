"""What there is to choose from: schemes, workloads and worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed import hosts, schemes
from traffic.readers import READERS
from traffic.workloads import WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.parameters import Parameter


def listing() -> str:
    """Return all schemes with their parameters and all workloads with their options, in text."""
    lines = ["Schemes (--schemes; parameters with --parameter OWNER.NAME=VALUE)"]
    for scheme in schemes.SCHEMES:
        lines.append(f"  {scheme.name:<12} {schemes.label(scheme, {})}, {scheme.reference}")
        lines += _parameters(scheme.parameters)
    lines.append("Congestion control (--cca)")
    for cca in hosts.CONGESTIONS:
        lines.append(f"  {cca.name:<12} {cca.label}: {cca.help} ({cca.reference})")
        lines += _parameters(cca.parameters)
    lines.append("Loss recovery (--recovery)")
    for recovery in hosts.RECOVERIES:
        lines.append(f"  {recovery.name:<12} {recovery.help}")
        lines += _parameters(recovery.parameters)
    lines.append("Workloads (--workload; options with --workload-option NAME=VALUE)")
    for workload in WORKLOADS:
        lines.append(f"  {workload.name:<12} {workload.summary}")
        lines += [f"  {'':<12}   {name}={values}" for name, values in workload.options.items()]
    for reader in READERS:
        files = ", ".join(f"FILE{ending}" for ending in reader.suffixes)
        lines.append(f"  {files:<12} {reader.summary}")
    return "\n".join(lines)


def _parameters(parameters: Sequence[Parameter]) -> list[str]:
    return [
        f"  {'':<12}   {parameter.name}={parameter.default:g}: {parameter.help}"
        for parameter in parameters
    ]
