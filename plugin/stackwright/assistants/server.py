"""The server: tools of the Model Context Protocol over standard input and output, by the official `mcp` package."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import anyio
from mcp import types
from mcp.server import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from pydantic import ValidationError

from stackup_lib.core.errors import StackwrightError, did_you_mean
from stackwright import __version__
from stackwright.assistants.ask import answer_to
from stackwright.assistants.questions import ToolQuestion, questions
from stackwright.text.words import clean

Context: TypeAlias = ServerRequestContext[dict[str, Any]]
AT_ONCE = 2
"""Commands that run at a time."""
INSTRUCTIONS = (
    "Stackwright judges the stackup, materials, copper and vias of KiCad boards against the requirements of AI "
    "workloads. All tools only read. Start with boards, then check. What is not verifiable was not checked: never call "
    "it passed. Every answer is at most 12,000 characters; where something was cut, `cut` says how to get it."
)


def serve(folders: tuple[Path, ...]) -> None:
    """Answer questions about boards in these folders until the other side closes its end."""
    anyio.run(_serve, folders)


async def _serve(folders: tuple[Path, ...]) -> None:
    server = server_of(folders)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def server_of(folders: tuple[Path, ...]) -> Server[dict[str, Any]]:
    """Return a server whose tools read these folders, on whatever transport it is run."""
    known = questions()
    turns = anyio.Semaphore(AT_ONCE)

    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(one) for one in known.values()])

    async def call_tool(_context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        asked = known.get(params.name)
        if asked is None:
            return _said(f"error: {params.name}: no such tool; there are {', '.join(known)}", is_error=True)
        try:
            question = asked.model_validate(params.arguments or {})
            async with turns:
                return _said(await answer_to(question, folders))
        except ValidationError as error:
            return _said(f"error: {params.name}: {_wrong(error, asked)}", is_error=True)
        except StackwrightError as error:
            line = str(error)
            return _said(line if line.startswith("error: ") else f"error: {line}", is_error=True)

    return Server(
        "stackwright",
        version=__version__,
        title="Stackwright",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _tool(question: type[ToolQuestion]) -> types.Tool:
    return types.Tool(
        name=question.NAME,
        description=" ".join((question.__doc__ or "").split()),
        input_schema=question.model_json_schema(),
        annotations=types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def _said(text: str, *, is_error: bool = False) -> types.CallToolResult:
    if is_error:
        text = " ".join(clean(text).split())
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)


def _wrong(error: ValidationError, asked: type[ToolQuestion]) -> str:
    """Return what is wrong with each argument; of a misspelt one also which it may be."""
    return "; ".join(
        _of_argument(one["loc"], one["type"], one["msg"], asked) for one in error.errors(include_url=False)
    )


def _of_argument(place: tuple[int | str, ...], kind: str, text: str, asked: type[ToolQuestion]) -> str:
    where = ".".join(map(str, place)) or "arguments"
    if kind == "extra_forbidden":
        return f"{where}: no such argument, {did_you_mean(where, asked.model_fields)}"
    return f"{where}: {text.lower()}"
