"""Cost of the transport: an echo server on `trio_grpc` compared with a bare grpc.aio echo server.

    python -m bench.echo [--streams 1 --streams 16 …] [--request BYTES] [--response BYTES] [--json]

Server and clients are separate processes, each on one core; every stream has its own connection and at most one message
in transit. The servers are measured alternately, so that other load on the machine affects both. Absolute figures
depend on the machine, ratios less so.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from statistics import median, quantiles
from typing import Any

import click
import grpc
import trio
from rich.console import Console
from rich.table import Table

from bench._limit import limit
from bench._pinned import CLIENT_CORE, SERVER_CORE, program
from trio_grpc.grpc.call import Stream
from trio_grpc.grpc.server import Service, serve

METHOD = "/bench.Echo/Echo"
SERVERS = ("bare", "arena")
OPTIONS = [("grpc.http2.bdp_probe", 0), ("grpc.so_reuseport", 0), ("grpc.http2.max_ping_strikes", 0)]
"""gRPC options of the bare server. They can only make it faster."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one run, or medians of several runs."""

    messages_per_second: float
    median_us: float
    """Median round trip measured by the client, in microseconds."""
    p99_us: float
    """99th percentile of round trips, in microseconds."""
    server_cpu_us: float
    """Processor time of all threads of the server per message received and returned, in microseconds."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both servers under the same load."""

    streams: int
    medians: dict[str, Figures]
    rates: dict[str, tuple[float, float]]
    """Lowest and highest rate of messages per second over the runs, by server."""
    ratios: Figures
    """Medians of `trio_grpc` divided by those of the bare server."""


def compare(
    streams: int, request: int = 64, response: int = 256, seconds: float = 2.0, repetitions: int = 5
) -> Comparison:
    """Measure both servers alternately with messages of `request` and `response` bytes."""
    runs: dict[str, list[Figures]] = {name: [] for name in SERVERS}
    for _ in range(repetitions):
        for name in SERVERS:
            runs[name].append(run_echo(name, streams, request, response, seconds))
    medians = {name: _combine(lambda *values: median(values), *runs[name]) for name in SERVERS}
    rates = {name: [run.messages_per_second for run in runs[name]] for name in SERVERS}
    return Comparison(
        streams,
        medians,
        {name: (min(rates[name]), max(rates[name])) for name in SERVERS},
        _combine(lambda arena, bare: arena / bare, medians["arena"], medians["bare"]),
    )


def _combine(how: Callable[..., float], *figures: Figures) -> Figures:
    return Figures(*(how(*(getattr(one, field.name) for one in figures)) for field in fields(Figures)))


def run_echo(name: str, streams: int, request: int, response: int, seconds: float, go: bool = False) -> Figures:
    """Run one of `SERVERS`, or the server in Go, once. With `go`, use the clients in Go."""
    ours = [sys.executable, "-m", "bench.echo"]
    serve = (
        [str(limit()), "serve", "-response", str(response)] if name == "go" else [*ours, "serve", name, str(response)]
    )
    with program(serve, SERVER_CORE) as ask_server:
        address = ask_server()
        load = [*ours, "load", address, str(streams), str(request), str(seconds)]
        if go:
            load = [str(limit()), "echo", "-address", address, "-streams", str(streams)]
            load += ["-request", str(request), "-seconds", str(seconds)]
        with program(load, CLIENT_CORE) as ask_clients:
            ask_clients()  # now all streams are connected and warm
            before = float(ask_server())
            found = json.loads(ask_clients())
            cpu = float(ask_server()) - before
    rate = found["count"] / found["seconds"]
    return Figures(rate, found["median_us"], found["p99_us"], 1e6 * cpu / found["count"])


def _register(servicer: Any, server: Any) -> None:
    method: Any = grpc.stream_stream_rpc_method_handler(servicer.Echo)
    server.add_registered_method_handlers("bench.Echo", {"Echo": method})


async def _serve_bare(response: bytes) -> None:
    class Servicer:
        async def Echo(self, _: object, context: grpc.aio.ServicerContext[Any, Any]) -> None:  # noqa: N802
            while (await context.read()) is not grpc.aio.EOF:
                await context.write(response)

    server = grpc.aio.server(options=OPTIONS)
    _register(Servicer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    _say_cpu_when_asked(port)
    await server.wait_for_termination()


async def _serve_arena(response: bytes) -> None:
    class Servicer:
        async def Echo(self, stream: Stream[bytes, bytes]) -> None:  # noqa: N802
            stream.trust()
            while (await stream.receive()) is not None:
                await stream.send(response)

    async with trio.open_nursery() as nursery:
        _say_cpu_when_asked(await nursery.start(serve, [Service(_register, Servicer())], "127.0.0.1:0"))


def _say_cpu_when_asked(port: int) -> None:
    def say() -> None:
        for _ in sys.stdin:
            print(time.process_time(), flush=True)

    print(f"127.0.0.1:{port}", flush=True)
    threading.Thread(target=say, daemon=True).start()


async def _load(address: str, streams: int, request: bytes, seconds: float) -> None:
    """Print a line when all streams are connected. On input, exchange messages for `seconds` and print the figures.

    The process is killed at the end, because closing hundreds of connections would count as work of the server.
    """
    trips: list[float] = []
    connected, finished = asyncio.Semaphore(0), asyncio.Semaphore(0)
    go = asyncio.Event()
    end = 0.0

    async def client() -> None:
        channel = grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        call: Any = channel.stream_stream(METHOD)()
        for _ in range(20):
            await call.write(request)
            await call.read()
        connected.release()
        await go.wait()
        now = time.perf_counter()
        while now < end:
            began = now
            await call.write(request)
            await call.read()
            now = time.perf_counter()
            trips.append(now - began)
        finished.release()
        await asyncio.Event().wait()

    async with asyncio.TaskGroup() as clients:
        for _ in range(streams):
            clients.create_task(client())
        for _ in range(streams):
            await connected.acquire()
        print("connected", flush=True)
        sys.stdin.readline()
        end = time.perf_counter() + seconds
        go.set()
        for _ in range(streams):
            await finished.acquire()
        percentiles = quantiles(trips, n=100)
        figures = {
            "count": len(trips),
            "seconds": seconds,
            "median_us": 1e6 * percentiles[49],
            "p99_us": 1e6 * percentiles[98],
        }
        print(json.dumps(figures), flush=True)


def _table(comparisons: Sequence[Comparison]) -> Table:
    table = Table(title="Echo: bare grpc.aio, and the same through trio_grpc; medians of the runs")
    for heading in ("streams", "server", "messages/s", "from", "to", "p50 µs", "p99 µs", "CPU µs", "CPU ratio"):
        table.add_column(heading, justify="right")
    for comparison in comparisons:
        for name in SERVERS:
            figures, rates = comparison.medians[name], comparison.rates[name]
            times = figures.median_us, figures.p99_us, figures.server_cpu_us
            table.add_row(
                str(comparison.streams),
                name,
                *(f"{number:,.0f}" for number in (figures.messages_per_second, *rates, *times)),
                f"{comparison.ratios.server_cpu_us:.2f}" if name == "arena" else "",
                end_section=name == SERVERS[-1],
            )
    return table


@click.group(invoke_without_command=True)
@click.option("--streams", type=int, multiple=True, default=(1, 16, 200), show_default=True)
@click.option("--request", type=int, default=64, show_default=True, help="Bytes of a message to the server.")
@click.option("--response", type=int, default=256, show_default=True, help="Bytes of a message to a client.")
@click.option("--seconds", type=float, default=2.0, show_default=True, help="Length of one run.")
@click.option("--repetitions", type=int, default=5, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.pass_context
def main(
    context: click.Context,
    streams: tuple[int, ...],
    request: int,
    response: int,
    seconds: float,
    repetitions: int,
    as_json: bool,
) -> None:
    """Compare a bare grpc.aio echo server with the same echo on trio_grpc."""
    if context.invoked_subcommand is not None:
        return
    comparisons = [compare(number, request, response, seconds, repetitions) for number in streams]
    if as_json:
        click.echo(json.dumps([asdict(comparison) for comparison in comparisons], indent=2))
    else:
        Console(width=100).print(_table(comparisons))


@main.command("serve", hidden=True)
@click.argument("name", type=click.Choice(SERVERS))
@click.argument("response", type=int)
def _serve_command(name: str, response: int) -> None:
    if name == "bare":
        asyncio.run(_serve_bare(bytes(response)))
    else:
        trio.run(_serve_arena, bytes(response))


@main.command("load", hidden=True)
@click.argument("address")
@click.argument("streams", type=int)
@click.argument("request", type=int)
@click.argument("seconds", type=float)
def _load_command(address: str, streams: int, request: int, seconds: float) -> None:
    asyncio.run(_load(address, streams, bytes(request), seconds))


if __name__ == "__main__":
    main()
