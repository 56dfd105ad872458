"""What there is to choose from: schemes, workloads and worlds."""

from __future__ import annotations

from testbed import schemes
from traffic.workloads import MATRIX_SUFFIX, WORKLOADS


def listing() -> str:
    """Return all schemes with their parameters and all workloads with their options, in text."""
    lines = ["Schemes (--schemes; parameters with --parameter SCHEME.NAME=VALUE)"]
    for scheme in schemes.SCHEMES:
        lines.append(f"  {scheme.name:<12} {schemes.label(scheme, {})}, {scheme.reference}")
        lines += [
            f"  {'':<12}   {parameter.name}={parameter.default:g}: {parameter.help}"
            for parameter in scheme.parameters
        ]
    lines.append("Workloads (--workload; options with --workload-option NAME=VALUE)")
    for workload in WORKLOADS:
        lines.append(f"  {workload.name:<12} {workload.summary}")
        lines += [f"  {'':<12}   {name}={values}" for name, values in workload.options.items()]
    lines.append(f"  {'FILE' + MATRIX_SUFFIX:<12} an htsim connection matrix")
    return "\n".join(lines)
