"""Turns what a user's attribute is (compiled graph, builder, factory) into a compiled graph; it finds and keeps none.

A factory is called for every open, and everything it holds open is closed by the thread or the task that opened it.
"""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from typing import TYPE_CHECKING, Any, TypeVar

from deerflow_lite.errors import DeerflowError, GraphBroken

if TYPE_CHECKING:
    from langgraph.pregel import Pregel

    Graph = Pregel[Any, Any, Any, Any]

Factory = Callable[[dict[str, Any]], Any]
T = TypeVar("T")


def broken(name: str, cause: str) -> GraphBroken:
    """Give the error of a graph that cannot be used."""
    return GraphBroken(f"assistant_id: the graph {name} cannot be used: {cause}")


def told(error: BaseException) -> str:
    """Give an exception in one line of at most 500 characters, without a traceback."""
    if isinstance(error, DeerflowError):
        return error.detail
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:500] if text else type(error).__name__


def graph_of(name: str, value: Any) -> "Graph | None":
    """Give a compiled graph for a graph or a builder, None for anything else."""
    from langgraph.graph import StateGraph
    from langgraph.pregel import Pregel

    if isinstance(value, Pregel):
        return value
    return value.compile(name=name) if isinstance(value, StateGraph) else None


def factory_of(value: Any) -> Factory:
    """Give a callable of one config for a user's factory; raises TypeError for what is none."""
    if not callable(value):
        raise TypeError(f"a {type(value).__name__} is no graph and no factory")
    parameter = _config_parameter(value)
    if parameter is None:
        return lambda config: value()
    if parameter.kind is parameter.POSITIONAL_ONLY:
        return lambda config: value(config)
    return lambda config: value(**{parameter.name: config})


def _config_parameter(value: Callable[..., Any]) -> inspect.Parameter | None:
    parameters = inspect.signature(value).parameters
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [one for one in parameters.values() if one.default is one.empty and one.kind not in variable]
    if len(needed) > 1 or any("Runtime" in str(one.annotation) or one.name == "runtime" for one in needed):
        raise TypeError(f"the factory asks for {', '.join(one.name for one in needed)}; only a config can be given")
    return needed[0] if needed else parameters.get("config")


@contextmanager
def entered(name: str, factory: Factory, config: dict[str, Any]) -> Iterator["Graph"]:
    """Hold a factory's graph open, from a thread whether or not it runs an event loop.

    Raises GraphBroken for whatever the factory raises.
    """
    stack = ExitStack()
    with ThreadPoolExecutor(1, thread_name_prefix=f"graph-{name}") as pool:
        try:
            yield finished(name, pool.submit(_enter, stack, name, factory, config))
        finally:
            finished(name, pool.submit(stack.close))


def _enter(stack: ExitStack, name: str, factory: Factory, config: dict[str, Any]) -> "Graph":
    made = factory(config)
    if isinstance(made, AbstractContextManager):
        made = stack.enter_context(made)
    elif inspect.isawaitable(made) or isinstance(made, AbstractAsyncContextManager):
        runner = stack.enter_context(asyncio.Runner())
        inner = AsyncExitStack()
        stack.callback(lambda: runner.run(inner.aclose()))
        made = runner.run(_settled(inner, made))
    return _graph(name, made)


@asynccontextmanager
async def aentered(name: str, factory: Factory, config: dict[str, Any]) -> AsyncIterator["Graph"]:
    """Hold a factory's graph open inside the running event loop; what the factory raises passes through.

    The factory is called in a thread: a slow synchronous one must not hold up every other run.
    """
    async with AsyncExitStack() as stack:
        made = await asyncio.to_thread(factory, config)
        yield _graph(name, await _settled(stack, made))


async def _settled(stack: AsyncExitStack, made: Any) -> Any:
    if inspect.isawaitable(made):
        made = await made
    if isinstance(made, AbstractAsyncContextManager):
        return await stack.enter_async_context(made)
    return stack.enter_context(made) if isinstance(made, AbstractContextManager) else made


def _graph(name: str, made: Any) -> "Graph":
    graph = graph_of(name, made)
    if graph is None:
        raise broken(name, f"its factory gave a {type(made).__name__}, not a graph")
    return graph


def finished(name: str, future: "Future[T]") -> T:
    """Wait for a call of the user's code and give its result; raises GraphBroken for whatever it raised."""
    error = future.exception()
    if error is None:
        return future.result()
    raise error if isinstance(error, GraphBroken) else broken(name, told(error)) from error
