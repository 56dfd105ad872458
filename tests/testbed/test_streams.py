"""Streams are reproducible and do not touch each other."""

from testbed.streams import stream, stream_seed


def test_a_stream_repeats() -> None:
    assert (stream(7, "pointers", 3).random(9) == stream(7, "pointers", 3).random(9)).all()


def test_names_numbers_and_seeds_tell_streams_apart() -> None:
    streams = [
        stream(7, "pointers"),
        stream(8, "pointers"),
        stream(7, "salts"),
        stream(7, "pointers", 0),
        stream(7, "pointers", 1),
    ]
    assert len({drawn.random() for drawn in streams}) == len(streams)


def test_a_number_is_not_taken_for_a_letter() -> None:
    assert stream_seed(1, "a", ord("b")) != stream_seed(1, "ab")


def test_seeds_fill_64_bits() -> None:
    seeds = [stream_seed(1, "random", number) for number in range(64)]
    assert len(set(seeds)) == 64
    assert max(seeds) >> 63 == 1
    assert max(seeds) < 1 << 64
