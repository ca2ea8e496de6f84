"""One job: find the boards, check them, leave SARIF, a summary, a log and the exit code."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from drc_rules.facts.declared import Overrides
from drc_rules.settings.config import CheckOptions
from stackup_lib.core.errors import ConfigError, StackwrightError, did_you_mean
from stackup_lib.core.record import record
from stackwright.ci.boards import base_of, have, missing_submodules, touched, tracked_boards
from stackwright.commands.check.answers import Answer
from stackwright.commands.check.command import check_all
from stackwright.commands.check.request import CheckRequest
from stackwright.reporters import github, gitlab, junit, markdown, sarif, text
from stackwright.results.checked import Unchecked
from stackwright.results.exit_reason import BROKEN, CLEAN, untold
from stackwright.run.paths import relative_to_run
from stackwright.text.markup import escape
from stackwright.text.output import complain, show, write_file
from stackwright.text.words import clean, count, some

PREFIX = "STACKWRIGHT_"
MOST_RUNS = 20
"""Runs that GitHub takes in one upload, however many files it has (GitHub Docs, "SARIF results exceed limits")."""
UPLOADS = 5
"""Files that the action uploads."""
SUMMARY_LIMIT = 900_000
"""Characters; GitHub drops a step summary above 1 MiB."""


@record
class JobChoice:
    """The boards of this job, and how they were chosen, in one sentence."""

    boards: Sequence[str]
    why: str
    complete: bool


def run_job(environment: Mapping[str, str]) -> int:
    """Run the job that the environment describes (`STACKWRIGHT_BOARDS`, ..., see `plugin/ci/README.md`).

    Raises:
        StackwrightError: a setting makes no sense, or git does not answer.
    """
    try:
        return _run(environment)
    except StackwrightError as error:
        if environment.get("GITHUB_ACTIONS"):
            show(github.command("error", "", "Stackwright", str(error)) + "\n")
        raise


def _run(environment: Mapping[str, str]) -> int:
    request = _request(environment)
    choice = choose(environment, request)
    _log(environment, choice.why)
    answers = []
    said: set[str] = set()  # a baseline that is missing is one error, however many boards need it
    for answer in check_all([Path(board) for board in choice.boards], request):
        answers.append(answer)
        _log_answer(environment, answer, said)
    _summarize(environment, choice, answers)
    if answers:
        _write_sarif(environment, answers)
        _write_others(environment, answers)
    code = max((answer.code for answer in answers), default=BROKEN if choice.complete else CLEAN)
    _output(environment, {"boards": str(len(answers)), "exit-code": str(code)})
    return code


def choose(environment: Mapping[str, str], request: CheckRequest) -> JobChoice:
    """Return the boards to check: those that a pull request touches, else all; of them, our share.

    `STACKWRIGHT_SHARD=2/8` is the second of eight jobs that share the work: every eighth board, from the second on.
    """
    part, parts = _shard(environment)
    choice = _touched(environment, request)
    if absent := missing_submodules(_patterns(environment)):
        left = f"Not checked out, so not looked at: {count(len(absent), 'submodule')} ({some(absent)})."
        choice = replace(choice, why=f"{choice.why} {left}")
    if parts == 1:
        return choice
    mine = choice.boards[part - 1 :: parts]
    why = f"{choice.why} Part {part} of {parts}: {count(len(mine), 'board')}."
    return JobChoice(mine, why, complete=choice.complete and not choice.boards)


def _shard(environment: Mapping[str, str]) -> tuple[int, int]:
    typed = environment.get(f"{PREFIX}SHARD", "").strip()
    if not typed:
        return 1, 1
    part, _, parts = typed.partition("/")
    if part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts):
        return int(part), int(parts)
    raise ConfigError("shard", f'"{typed}" is no part of a whole', "write 2/8 for the second of eight jobs")


def _touched(environment: Mapping[str, str], request: CheckRequest) -> JobChoice:
    changed_only = _flag(environment, "CHANGED_ONLY", default=False)  # mistakes in the settings come before git's
    boards = tracked_boards(_patterns(environment))
    if not boards:
        but = " but those that the boards of the job leave out" if _patterns(environment) else ""
        return JobChoice((), f"There is no .kicad_pcb file that git knows{but}.", complete=True)
    everything = f"{count(len(boards), 'board')} to check"
    if not changed_only:
        return JobChoice(boards, f"{everything}.", complete=True)
    base = base_of(environment, of_push=False)  # green after a push says that every board is, not the last change alone
    if base is None:
        return JobChoice(boards, f"{everything}: there is no base of a pull or merge request.", complete=True)
    if not have(base, fetch=_flag(environment, "FETCH_BASE", default=False)):
        return JobChoice(boards, f"{everything}: commit {base[:12]} is not in this clone.", complete=True)
    changed = touched(boards, base, request.shared_files())
    return JobChoice(
        changed, f"{len(changed)} of {count(len(boards), 'board')} changed since {base[:12]}.", complete=False
    )


def _patterns(environment: Mapping[str, str]) -> list[str]:
    return [line.strip() for line in environment.get(f"{PREFIX}BOARDS", "").splitlines() if line.strip()]


def _request(environment: Mapping[str, str]) -> CheckRequest:
    fail_on = environment.get(f"{PREFIX}FAIL_ON", "").strip() or None
    known = get_args(get_args(CheckOptions.model_fields["fail_on"].annotation)[0])
    if fail_on is not None and fail_on not in known:
        raise ConfigError("fail-on", f'"{fail_on}" is no severity', did_you_mean(fail_on, known))
    profile = environment.get(f"{PREFIX}PROFILE", "").strip() or None
    return CheckRequest(
        Overrides(profile, suppress=_flag(environment, "SUPPRESSIONS", default=True)),
        config=_path(environment, "CONFIG"),
        fail_on=fail_on,
        min_coverage_pct=_percent(environment),
        baseline=_path(environment, "BASELINE"),
        against=_base(environment) if _flag(environment, "AGAINST_BASE", default=False) else None,
    )


def _base(environment: Mapping[str, str]) -> str | None:
    """Return the commit whose findings do not count; None where the event has none, or git does not have it."""
    base = base_of(environment)
    return base if base and have(base, fetch=_flag(environment, "FETCH_BASE", default=False)) else None


def _given(environment: Mapping[str, str], name: str) -> bool:
    return bool(environment.get(f"{PREFIX}{name}", "").strip())


def _path(environment: Mapping[str, str], name: str) -> Path | None:
    return Path(environment[f"{PREFIX}{name}"].strip()) if _given(environment, name) else None


def _percent(environment: Mapping[str, str]) -> float | None:
    if not _given(environment, "MIN_COVERAGE"):
        return None
    typed = environment[f"{PREFIX}MIN_COVERAGE"].strip()
    try:
        value = float(typed)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise ConfigError("min-coverage", f'"{typed}" is no percentage', "give a number from 0 to 100")
    return value


def _flag(environment: Mapping[str, str], name: str, *, default: bool) -> bool:
    typed = environment.get(f"{PREFIX}{name}", "").strip().lower()
    if typed not in ("", "true", "false"):
        raise ConfigError(name.lower().replace("_", "-"), f'"{typed}" is neither true nor false', "give one of them")
    return typed == "true" if typed else default


def _log_answer(environment: Mapping[str, str], answer: Answer, said: set[str]) -> None:
    if isinstance(answer.outcome, Unchecked):
        if (words := str(answer.outcome.error)) not in said:
            complain(answer.outcome.error)
            if environment.get("GITHUB_ACTIONS"):
                show(github.render([answer.outcome]))
        said.add(words)
        return
    _log(environment, text.page(answer.outcome.report, verbose=True).text())
    board = answer.outcome.report.board.path
    for reason in untold(answer.outcome.exit_reasons):
        _log(environment, f"{board}: {reason.text}")
        if environment.get("GITHUB_ACTIONS"):
            show(github.command("error", relative_to_run(board)[0], "Stackwright", reason.text) + "\n")


def _log(environment: Mapping[str, str], words: str) -> None:
    """Print to the log; on GitHub, no line of a board may act as a workflow command."""
    if not environment.get("GITHUB_ACTIONS"):
        show(f"{words.rstrip()}\n\n")
        return
    token = secrets.token_hex(16)
    show(f"::stop-commands::{token}\n{words.rstrip()}\n\n::{token}::\n")


def _summarize(environment: Mapping[str, str], choice: JobChoice, answers: Sequence[Answer]) -> None:
    parts = [f"# Stackwright\n\n{escape(choice.why)}\n"]
    size = len(parts[0])
    for index, answer in enumerate(answers):
        part = markdown.render([answer.outcome])
        size += len(part.encode())
        if size > SUMMARY_LIMIT:
            left = [escape(str(board)) for board in choice.boards[index:]]
            parts.append(f"No room for {count(len(left), 'more board')}: {some(left)}.\n")
            break
        parts.append(part)
    summary = "\n".join(parts)
    if _given(environment, "SUMMARY"):
        write_file(Path(environment[f"{PREFIX}SUMMARY"].strip()), summary)
    if environment.get("GITHUB_STEP_SUMMARY"):
        with Path(environment["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(summary)


def _write_sarif(environment: Mapping[str, str], answers: Sequence[Answer]) -> None:
    """Write SARIF without accepted findings: GitHub shows what SARIF calls suppressed as open.

    On GitHub there is a file for every 20 boards: `stackwright.sarif`, `stackwright-2.sarif`, ... A board whose check
    was not whole is left out: GitHub would refuse the file, with what it says of the others.
    """
    target = _path(environment, "SARIF")
    if target is None:
        return
    on_github = bool(environment.get("GITHUB_ACTIONS"))
    answers = [answer for answer in answers if sarif.is_whole(answer.outcome)] if on_github else answers
    most = MOST_RUNS if on_github else len(answers)
    for number, start in enumerate(range(0, len(answers), most), start=1):
        file = target if number == 1 else target.with_stem(f"{target.stem}-{number}")
        outcomes = [answer.outcome for answer in answers[start : start + most]]
        write_file(file, sarif.render(outcomes, with_accepted=False))
        _output(environment, {"sarif" if number == 1 else f"sarif-{number}": clean(str(file))})
    if left := answers[UPLOADS * most :]:
        words = f"not uploaded: findings of {count(len(left), 'board')}; share the boards among jobs with `shard`"
        show(github.command("warning", relative_to_run(_board(left[0]))[0], "Stackwright", words) + "\n")


def _board(answer: Answer) -> str:
    return answer.outcome.path if isinstance(answer.outcome, Unchecked) else answer.outcome.report.board.path


def _write_others(environment: Mapping[str, str], answers: Sequence[Answer]) -> None:
    """Write what other hosts read, where it is requested."""
    outcomes = [answer.outcome for answer in answers]
    wanted = {_path(environment, "JUNIT"): junit.render, _path(environment, "CODE_QUALITY"): gitlab.render}
    for target, render in wanted.items():
        if target is not None:
            write_file(target, render(outcomes))


def _output(environment: Mapping[str, str], values: Mapping[str, str]) -> None:
    if environment.get("GITHUB_OUTPUT"):
        with Path(environment["GITHUB_OUTPUT"]).open("a", encoding="utf-8", newline="\n") as stream:
            stream.writelines(f"{name}={value}\n" for name, value in values.items())
