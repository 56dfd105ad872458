"""BMv2 JSON to C behind the pipeline contract, to a cached shared object."""
