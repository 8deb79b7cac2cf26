"""The client: what is in memory, and when it is renewed."""
from __future__ import annotations

import base64
import json
import logging
import os
import random
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from ._prompt import MessagesPrompt, Prompt, PromptError, TextPrompt, fallback_prompt, parse_prompt

_log = logging.getLogger("pennytrace")

# How long a caller waits for the renewal of what is older than the cache allows, in seconds.
_PATIENCE = 0.25
# The longest answer, in bytes.
_MAX_ANSWER = 16_000_000
# What an entry takes beside its text, in characters.
_ENTRY_CHARACTERS = 500
# Tries of a read before anything is in memory.
_FIRST_TRIES = 3


class _Refused(Exception):
    """An answer that will be the same in a moment."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The key is for this service alone."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


class _Entry:
    """A prompt in memory, or on its way there. Times are those of time.monotonic."""

    def __init__(self) -> None:
        self.text: str | None = None  # the answer, as it came
        self.etag: str | None = None
        self.read_at = 0.0  # when the service last said that this is the prompt
        self.due_at = 0.0  # when to ask next
        self.renewal: tuple[threading.Event, float] | None = None  # the request that runs, and since when
        self.failures = 0  # how often in a row it failed, and why at last
        self.problem = ""
        self.is_told = False


def _back_off(failures: int) -> float:
    """The wait between failures, in seconds: one, then twice as long each time, up to a minute; jittered."""
    return min(60.0, 2.0 ** min(failures - 1, 10)) * random.uniform(0.5, 1)


def _problem(status: int, body: str) -> str:
    """The words of an error's answer."""
    try:
        words = "; ".join(each["msg"] for each in json.loads(body)["detail"])
    except (ValueError, TypeError, LookupError):
        words = body[:300]  # it is not from the service, so what it says is told as it is
    return f"it answered {status}: {words}"


def _read_body(response: Any, deadline: float) -> str:
    """Reads a body as text, up to a bound and a time."""
    chunks: list[bytes] = []
    length = 0
    while chunk := response.read1(65536):
        length += len(chunk)
        if length > _MAX_ANSWER:
            raise ValueError(f"the answer is longer than {_MAX_ANSWER} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError("the answer took too long")
        chunks.append(chunk)
    return b"".join(chunks).decode("utf-8", "replace")


def _setting(name: str, given: str | None) -> str:
    variable = f"PENNYTRACE_{name.upper()}"
    value = given or os.environ.get(variable)
    if not value:
        raise PromptError(f"set {variable}, or pass {name} to the client")
    return value


_clients: weakref.WeakSet[PennytraceClient] = weakref.WeakSet()


class PennytraceClient:
    """
    Reads prompts of a project. One client serves the whole program, whatever its threads: what is in memory is its own.

    url, key (with the role `read`) and project (`<entity>/<project>`) are PENNYTRACE_URL, PENNYTRACE_KEY and
    PENNYTRACE_PROJECT by default. cache_seconds is how long a prompt is used before it is read again, timeout_seconds how
    long a read may take with all its tries. max_characters is the most text in memory: what was not used for longest goes
    first. on_error is told once when a prompt cannot be read and the program goes on with what is in memory or with the
    fallback, and again only after it was read; by default, that is a warning of the logger `pennytrace`.
    """

    def __init__(
        self,
        *,
        url: str | None = None,
        key: str | None = None,
        project: str | None = None,
        cache_seconds: float = 60,
        timeout_seconds: float = 5,
        max_characters: int = 32_000_000,
        on_error: Callable[[PromptError], None] | None = None,
    ) -> None:
        self._url = _setting("url", url).rstrip("/")
        if not self._url.startswith(("http://", "https://")):
            raise PromptError(f"the service's URL should be like https://example.com, and is {self._url}")
        self._authorization = "Basic " + base64.b64encode(f"api:{_setting('key', key)}".encode()).decode()
        self._project = _setting("project", project)
        self._cache = cache_seconds
        self._timeout = timeout_seconds
        self._max_characters = max_characters
        self._on_error = on_error or _log.warning
        self._characters = 0
        # By the query of the request; the one that was used last is at the end.
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        _clients.add(self)

    @overload
    def get_prompt(
        self, name: str, *, label: str | None = ..., version_index: int | None = ..., digest: str | None = ..., fallback: str
    ) -> TextPrompt: ...
    @overload
    def get_prompt(
        self,
        name: str,
        *,
        label: str | None = ...,
        version_index: int | None = ...,
        digest: str | None = ...,
        fallback: Sequence[Mapping[str, Any]],
    ) -> MessagesPrompt: ...
    @overload
    def get_prompt(
        self,
        name: str,
        *,
        label: str | None = ...,
        version_index: int | None = ...,
        digest: str | None = ...,
        fallback: Mapping[str, Any] | None = ...,
    ) -> Prompt: ...
    def get_prompt(
        self,
        name: str,
        *,
        label: str | None = None,
        version_index: int | None = None,
        digest: str | None = None,
        fallback: str | Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    ) -> Prompt:
        """
        A prompt: from memory while it is renewed beside, however long the service is away; from the fallback if the
        service has never answered. The first read waits for the service, timeout_seconds at most. What is older than
        cache_seconds waits a quarter of a second at most.

        At most one of label, version_index and digest chooses the version; without any, it is that with the label
        `production`, or else the newest. The fallback is a text, messages, or a dict with `text` or `messages` and perhaps
        `config`. It also says whether messages or a text are expected.

        Raises PromptError if there is neither an answer nor a fallback: it says why.
        """
        query = self._to_query(name, label=label, version_index=version_index, digest=digest)
        substitute = None if fallback is None else fallback_prompt(name, fallback)
        with self._lock:
            entry = self._use(query)
            if entry.renewal is None and time.monotonic() >= entry.due_at:
                self._renew(query, entry)
        self._wait(entry, substitute is not None)

        with self._lock:
            text, problem = entry.text, entry.problem or ("" if entry.text else "it has not answered yet")
        found = None if text is None else parse_prompt(text)
        if found and substitute and type(found) is not type(substitute):
            kind = "messages" if isinstance(found, MessagesPrompt) else "text"
            problem, found = f"it is {kind}, and the fallback is not", None
        used = found or substitute
        words = f"the prompt {name} of {self._project} cannot be read from {self._url}: {problem}"
        if not used:
            raise PromptError(words)
        if problem and not entry.is_told:
            entry.is_told = True
            which = "the fallback" if used.version_index is None else f"version {used.version_index}"
            self._on_error(PromptError(f"{words}; going on with {which}"))
        return used

    def _to_query(self, name: str, **choice: str | int | None) -> str:
        chosen = {field: str(value) for field, value in choice.items() if value is not None}
        if len(chosen) > 1:
            raise PromptError(f"choose at most one of label, version_index and digest for the prompt {name}")
        return urllib.parse.urlencode({"project_id": self._project, "name": name, **chosen})

    def _use(self, query: str) -> _Entry:
        """What is in memory of a prompt, as that which was used last."""
        entry = self._entries.get(query)
        if entry is None:
            entry = self._entries[query] = _Entry()
            self._characters += len(query) + _ENTRY_CHARACTERS
        self._entries.move_to_end(query)
        self._forget(query)
        return entry

    def _forget(self, used: str) -> None:
        """Keeps memory within its bound, but for what is used now."""
        while self._characters > self._max_characters:
            query = next(iter(self._entries))
            if query == used:
                return
            self._characters -= len(query) + _ENTRY_CHARACTERS + len(self._entries.pop(query).text or "")

    def _wait(self, entry: _Entry, has_fallback: bool) -> None:
        renewal = entry.renewal
        if renewal is None:
            return
        done, since = renewal
        if entry.text is None:
            # A service that failed once does not keep a program from its fallback again.
            if not has_fallback or entry.failures == 0:
                # What looks up hosts knows no time-out.
                done.wait(self._timeout)
            return
        now = time.monotonic()
        if now - entry.read_at > self._cache:
            done.wait(max(0.0, since + _PATIENCE - now))

    def _renew(self, query: str, entry: _Entry) -> None:
        """Asks the service in a thread of its own. There is one such request at a time."""
        done = threading.Event()
        entry.renewal = (done, time.monotonic())

        def ask() -> None:
            problem = ""
            try:
                text, etag = self._read(query, entry)
            except Exception as error:  # whatever it is, the program goes on
                problem = str(getattr(error, "reason", None) or error) or type(error).__name__
            with self._lock:
                now = time.monotonic()
                if problem:
                    self._fail(entry, problem, now)
                else:
                    if self._entries.get(query) is entry:
                        self._characters += len(text) - len(entry.text or "")
                    entry.text, entry.etag, entry.read_at = text, etag, now
                    # Processes that started together ask apart from each other after a while.
                    entry.due_at = now + self._cache * random.uniform(0.9, 1)
                    entry.failures, entry.problem, entry.is_told = 0, "", False
                    self._forget(query)
                entry.renewal = None
            done.set()

        try:
            threading.Thread(target=ask, name="pennytrace-prompt", daemon=True).start()
        except RuntimeError as error:  # there are no more threads, or the program ends
            self._fail(entry, str(error), time.monotonic())
            entry.renewal = None
            done.set()

    def _fail(self, entry: _Entry, problem: str, now: float) -> None:
        entry.failures += 1
        entry.problem = problem
        entry.due_at = now + _back_off(entry.failures)

    def _read(self, query: str, entry: _Entry) -> tuple[str, str | None]:
        deadline = time.monotonic() + self._timeout
        tries = 1
        while True:
            try:
                return self._request(query, entry, deadline)
            except Exception as error:
                is_final = isinstance(error, _Refused) or entry.text is not None or tries == _FIRST_TRIES
                pause = _back_off(tries) / 5
                if is_final or time.monotonic() + pause > deadline:
                    raise
            time.sleep(pause)
            tries += 1

    def _request(self, query: str, entry: _Entry, deadline: float) -> tuple[str, str | None]:
        headers = {"authorization": self._authorization, "accept": "application/json"}
        text, etag = entry.text, entry.etag
        if text is not None and etag:
            headers["if-none-match"] = etag
        request = urllib.request.Request(f"{self._url}/prompt/read?{query}", headers=headers)
        try:
            with _opener.open(request, timeout=max(0.001, deadline - time.monotonic())) as response:
                status, body, known = response.status, _read_body(response, deadline), response.headers.get("etag")
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 304 and text is not None and etag:
                    return text, etag
                said = _problem(error.code, _read_body(error, deadline))
            refused = error.code < 500 and error.code != 429
            raise (_Refused if refused else RuntimeError)(said) from None
        if status != 200:
            raise RuntimeError(_problem(status, body))
        parse_prompt(body)
        return body, known

    def _after_fork(self) -> None:
        """The threads of the parent are not here."""
        self._lock = threading.Lock()
        for entry in self._entries.values():
            entry.renewal = None


def _after_fork() -> None:
    for client in list(_clients):
        client._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
